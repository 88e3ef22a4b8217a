// SPDX-License-Identifier: BSD-3-Clause
// import(): makes a run from a Hugging Face folder, without training. cli/run_verb.cpp calls it and shows it
// like a session of `exp run`. The run is stored with its question (the text of all that its result depends
// on) like any other, so importing an equal model again finds this run. Read next: import.cpp,
// pretrained/hugging_face_folder.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_session.hpp"

namespace encore::app {

struct ImportRequest {
  std::string folder;                     ///< with config.json, weights and the tokenizer's files
  std::optional<std::string> name, task;  ///< not given: by the folder's name and architecture
  std::vector<std::string> set;           ///< key=value
  BackendRequest backend;
  SessionRequest session;
  bool json = false;
};

Form<ImportRequest> import_form();

struct ImportResult {
  std::optional<store::RunRow> known = {};    ///< the run that has this model already, or works on it
  std::optional<SessionResult> session = {};  ///< nothing if the run is known
};

ImportResult import(const ImportRequest& request, const App& app, SessionEvents& events);

}  // namespace encore::app
