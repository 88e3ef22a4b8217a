// SPDX-License-Identifier: BSD-3-Clause
// ParentRuns: finds the parents of runs, the runs that they start from ([model] from = { run = } or {
// experiment = }), learn from or ask, in the database, in other experiment files and in folders of models.
// Place in the flow: planned_runs.cpp and planned_search.cpp pass it to make_plan, and put the parents that
// it found in front of the file's own runs. A parent is part of a run's question, so how it is found decides
// which runs count as equal.
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

/// A run of another experiment file, or of a folder, from which a run starts, learns, or which it asks.
struct PlannedParent {
  std::string command = {};                                ///< makes the run alone: `exp run pre.toml`
  std::vector<std::string> notices = {};                   ///< what the run does not take over from a folder
  config::ExperimentFile document = {};                    ///< the other experiment file
  plan::Plan plan = {};                                    ///< of the whole file
  plan::RunPoint point = {};                               ///< the run in this plan
  std::vector<std::filesystem::path> plugin_folders = {};  ///< folders for the plugins of that file
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
  /// Plans the run that `exp import` makes of the folder. Valid as long as this object. Throws likewise.
  const plan::Parent& imported(const std::filesystem::path& folder) override;

  /// Returns the runs that experiment() and imported() found, parents first.
  std::vector<PlannedParent> take() { return std::move(planned_); }

 private:
  const plan::Parent& keep(const std::string& key, plan::Parent parent);
  /// Plans the document of `parent` and keeps its run `name` under `key`. `title` names the run in messages.
  const plan::Parent& add(const std::string& key, PlannedParent parent, const std::string& title,
                          const std::string& name);

  std::filesystem::path database_;
  PluginFolders plugin_folders_;
  std::string fingerprint_;
  std::vector<std::filesystem::path> chain_;  ///< files that are being planned, the first asked for first
  std::deque<plan::Parent> found_;
  std::map<std::string, const plan::Parent*> known_;
  std::vector<PlannedParent> planned_;
};

}  // namespace encore::app
