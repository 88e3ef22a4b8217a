// SPDX-License-Identifier: BSD-3-Clause
// PointMaker: turns a proposal and the experiment file into runs, one per seed. Place in the flow: plan.cpp
// (sweeps) or plan/search/search_plan.cpp (searches) -> make(): set the values, resolve, exclude, hash the
// files, compute the identity, name -> RunPoint. A new source of points needs no change here. Read next:
// identity.hpp for what counts in a run's identity.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/catalogue.hpp"
#include "config/experiment_file.hpp"
#include "config/resolve.hpp"
#include "plan/parent.hpp"
#include "plan/plan_header.hpp"
#include "plan/proposal.hpp"
#include "plan/run_names.hpp"
#include "plan/run_point.hpp"
#include "plan/sweep.hpp"
#include "pretrained/folder_filler.hpp"

namespace encore::plan {

class PointMaker {
 public:
  /// `root` is the root of the document after the overrides were applied. Document, catalogue, sweep and
  /// parents outlive the maker; `parents` may be null.
  PointMaker(const config::ExperimentFile& document, config::Value root, const config::Catalogue& catalogue,
             const Sweep& sweep, PlanHeader header, ContentHash hash, ParentSource* parents);

  /// Returns one run per seed of the file, or none if the proposal is excluded or wrong. Adds what is wrong
  /// to `problems`.
  std::vector<RunPoint> make(const Proposal& proposal, config::Problems& problems);
  /// Makes the runs with other seeds, at least one.
  std::vector<RunPoint> make(const Proposal& proposal, const std::vector<std::int64_t>& seeds,
                             config::Problems& problems);

  /// Reports, after the last proposal, conditions naming options that no point has, options of [sweep.when]
  /// that no point varies, options of the name that no point has, and layer tables that no point uses.
  void finish(config::Problems& problems) const;

  std::size_t excluded() const { return excluded_; }
  /// Returns the options that the last proposal set after [sweep.when], also if it was excluded or wrong.
  const std::vector<std::string>& applied_keys() const { return assigned_keys_; }
  /// Call it after the last proposal. Returns the conditions of [sweep] exclude that met no point, except
  /// those about options that were drawn at random or set by the command line.
  std::vector<config::Problem> warnings() const;

 private:
  Proposal applicable(const Proposal& proposal, config::Problems& problems);
  const config::Value& assigned(const Proposal& proposal, config::Problems& problems);
  void note_names(const config::Resolved& resolved);
  bool is_excluded(const nlohmann::json& config, config::Problems& problems);
  void require_known(const std::string& word, const Condition& condition, config::Problems& problems) const;
  void finish_conditional_options(config::Problems& problems) const;
  std::map<std::string, ContentFile> hash_files(const config::Resolved& resolved, config::Problems& problems);

  const config::ExperimentFile& document_;
  config::Value root_;                      // without [sweep], of which a point needs nothing
  config::Value assigned_;                  // root_ with what the last point set
  std::vector<std::string> assigned_keys_;  // what that was
  pretrained::FolderFiller filler_;
  ParentSource* parents_;
  config::Value filled_;                        // assigned_ and what model.from decides
  bool from_is_usable_ = true;                  // and so is every other table that names a run
  std::map<std::string, const Parent*> links_;  // of the last point, by the tables that name the runs
  const config::Catalogue& catalogue_;
  const Sweep& sweep_;
  PlanHeader header_;
  ContentHash hash_;
  RunNames names_;
  std::map<std::string, std::string> hashes_;                     // by path
  std::set<std::pair<std::string, const Schema*>> known_tables_;  // whose options are in known_keys_
  std::set<std::string> known_keys_;                              // options that some point has
  std::set<std::string> met_options_;  // whose condition held in some point, by key
  std::set<const Condition*> met_exclusions_;
  std::set<std::string> used_layers_;
  std::map<std::string, config::Place> unused_layers_;
  std::size_t excluded_ = 0;
};

}  // namespace encore::plan
