// SPDX-License-Identifier: BSD-3-Clause
// imported_experiment(): the experiment of a run that is a pretrained model as it is: zero epochs from the
// folder of a Hugging Face model. import.cpp plans it for `exp import`; parent_runs.cpp for `{ folder = DIR
// }`, by which a step of an application or a distillation names its model. Both make the same run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/catalogue.hpp"
#include "config/experiment_file.hpp"

namespace encore::app {

struct ImportedModel {
  std::filesystem::path folder;
  std::optional<std::string> name = {}, task = {};  ///< not given: by the folder's name and architecture
  std::vector<std::string> set = {};                ///< KEY=VALUE
};

struct ImportedExperiment {
  config::ExperimentFile document;
  std::vector<std::string> notices;  ///< what the run does not take over from the folder, one sentence each
};

/// Throws Error if the folder has no model that a task imports, or several tasks import it and none is named.
ImportedExperiment imported_experiment(const ImportedModel& model, const config::Catalogue& catalogue);

}  // namespace encore::app
