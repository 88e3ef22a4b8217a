// SPDX-License-Identifier: BSD-3-Clause
// Plan: an experiment file as the ordered list of runs that it describes, each checked, complete and with its
// identity. Place in the flow: `exp run` and `exp plan` call make_plan; proposal.hpp proposes points,
// point_maker.hpp turns a proposal into runs; app/ writes a specification for each RunPoint. The order of the
// runs is that in which they are numbered and trained, so it does not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/catalogue.hpp"
#include "config/experiment_file.hpp"
#include "plan/parent.hpp"
#include "plan/run_point.hpp"
#include "pretrained/content_hash.hpp"

namespace encore::plan {

struct Plan {
  std::string name;  ///< of the sweep: that of the file if the name of its runs has placeholders
  std::string note;
  std::vector<std::string> tags;
  config::Origins origin;                        ///< of name, note and tags
  std::map<std::int64_t, config::Origin> seeds;  ///< each seed, and where it comes from
  std::vector<RunPoint> points = {};
  /// Counts of points that give no run, before they are multiplied by the seeds: points that [sweep] exclude
  /// took out; points whose runs have the settings of an earlier point's, because [sweep.when] leaves options
  /// out; and such points that set every option, such as a value that stands twice in a zip.
  std::size_t excluded = 0, alike_by_when = 0, duplicates = 0;
  std::vector<config::Problem> warnings =
      {};  ///< probable mistakes that stop nothing, such as an exclusion that meets no point
};

/// Makes the plan and writes nothing. Throws ConfigErrors with everything that is wrong in any point. Calls
/// `hash` once per path, and `made` after each point with the number of points so far and of all points.
/// `parents` finds the runs that others start from; without it every parent is unknown.
Plan make_plan(const config::ExperimentFile& document, const config::Catalogue& catalogue,
               const ContentHash& hash = pretrained::sha256_of_content,
               const std::function<void(std::size_t, std::size_t)>& made = {},
               ParentSource* parents = nullptr);

}  // namespace encore::plan
