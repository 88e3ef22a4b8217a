// SPDX-License-Identifier: BSD-3-Clause
// ParentRuns: finds the parents of runs, the runs that they start from ([model] from = { run = } or {
// experiment = }), in the database and in other experiment files. Place in the flow: planned_runs.cpp and
// planned_search.cpp pass it to make_plan, and put the parents that it found in front of the file's own runs.
// A parent is part of a run's question, so how it is found decides which runs count as equal.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/catalogue.hpp"
#include "config/experiment_file.hpp"
#include "plan/parent.hpp"
#include "plan/plan.hpp"

namespace encore::app {

/// A run of another experiment file, from which a run starts.
struct PlannedParent {
  config::ExperimentFile document;                    ///< the other experiment file
  plan::Plan plan;                                    ///< of the whole file
  plan::RunPoint point;                               ///< the run in this plan
  std::vector<std::filesystem::path> plugin_folders;  ///< folders for the plugins of that file
};

class ParentRuns final : public plan::ParentSource {
 public:
  /// Returns the folders in which the plugins of an experiment file are searched.
  using PluginFolders =
      std::function<std::vector<std::filesystem::path>(const config::ExperimentFile& document)>;

  /// Prepares the search for parents. `file` is the experiment file to plan, `fingerprint` that of the build
  /// that would train.
  ParentRuns(std::filesystem::path database, const std::filesystem::path& file, PluginFolders plugin_folders,
             std::string fingerprint);

  /// Returns the run of the database that `word` selects, which must have weights. Valid as long as this
  /// object. Throws Error.
  const plan::Parent& run(const std::string& word) override;
  /// Plans `file` and returns its run `name`. Valid as long as this object. Throws ConfigErrors or Error,
  /// also if the files form a circle.
  const plan::Parent& experiment(const std::filesystem::path& file, const std::string& name) override;

  /// Returns the runs that experiment() found, parents first.
  std::vector<PlannedParent> take() { return std::move(planned_); }

 private:
  const plan::Parent& keep(const std::string& key, plan::Parent parent);

  std::filesystem::path database_;
  PluginFolders plugin_folders_;
  std::string fingerprint_;
  std::vector<std::filesystem::path> chain_;  ///< files that are being planned, the first asked for first
  std::deque<plan::Parent> found_;
  std::map<std::string, const plan::Parent*> known_;
  std::vector<PlannedParent> planned_;
};

}  // namespace encore::app
