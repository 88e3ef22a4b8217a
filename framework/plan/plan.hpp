// Plan: an experiment file as the ordered runs it asks for, each checked, complete and with its identity.
// Place in the flow: `exp run` and `exp plan` call make_plan, the runner writes a specification per RunPoint.
// Who proposes the points is proposal.hpp's business; how a proposal becomes a run is point_maker.hpp's,
// which does not know where it came from.
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

namespace encore {

struct Plan {
  std::string name;  ///< of the sweep: the file's where the name of its runs has placeholders
  std::string note;
  std::vector<std::string> tags;
  Origins origin;                        ///< of name, note and tags
  std::map<std::int64_t, Origin> seeds;  ///< each seed, and where it comes from
  std::vector<RunPoint> points = {};
  /// Points of the sweep that give no run, before they are multiplied by the seeds: those that [sweep]
  /// exclude took out; those that ask what an earlier one asks because [sweep.when] has them leave options
  /// out; and those that ask it although they set every option, such as a value that stands twice in a zip.
  std::size_t excluded = 0, alike_by_when = 0, duplicates = 0;
  std::vector<Problem> warnings =
      {};  ///< what is likely a slip but stops nothing: an exclusion that meets no point
};

/// Throws ConfigErrors with everything that is wrong in any point. Nothing is written. `hash` is called once
/// per path, `made` after each point with how many there are so far and will be. `parents` finds the runs
/// that others start from; without it there are none.
Plan make_plan(const ExperimentFile& document, const Catalogue& catalogue,
               const ContentHash& hash = sha256_of_content,
               const std::function<void(std::size_t, std::size_t)>& made = {},
               ParentSource* parents = nullptr);

}  // namespace encore
