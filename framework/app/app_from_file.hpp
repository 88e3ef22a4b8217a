// SPDX-License-Identifier: BSD-3-Clause
// app_from_file(): from a user's own file of labelled requests to an application, for `exp app new`. The
// worker surveys the file with the reader that a run will use (record/survey_answer.hpp); this function
// checks what is found, divides it (app_shares.hpp) and writes the experiment files (app_files.hpp).
// cli/app_verb.cpp prints the result. Read next: docs/guides/app_from_a_file.md. Options of the form must
// stay, because scripts have them; the content of the files may change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/app_shares.hpp"
#include "app/backend.hpp"
#include "app/form.hpp"
#include "record/survey_answer.hpp"

namespace encore::app {

struct AppNewRequest {
  std::string from;                         ///< the file
  std::optional<std::string> test;          ///< a file of its own for the test set
  std::optional<std::string> text, label;   ///< columns; not given: proposed
  std::optional<std::string> out_of_scope;  ///< a label
  std::optional<std::string> base;          ///< a folder of a pretrained model, or a run
  std::optional<std::string> folder;        ///< to write; not given: the name
  double error = 0.05;                      ///< the promise of `decide`
  bool no_header = false;                   ///< the first line of a table is a record
  bool json = false;
  BackendRequest backend;
  std::string name;  ///< of the application, its run and its folder
};

Form<AppNewRequest> app_new_form();

/// Records of a class with fewer are too few to learn it and to measure it.
inline constexpr std::int64_t least_of_class = 20;

struct AppFromFile {
  record::SurveyAnswer survey = {};
  AppShares shares = {};
  PromiseSize promise = {};                     ///< of the records that the fit gets
  std::int64_t comfortable = 0;                 ///< records of the fit that the promise should have
  std::vector<std::string> small_classes = {};  ///< with fewer records than least_of_class
  std::string likely_out_of_scope =
      {};  ///< a class with a name such as "other", if none is named; else empty
  std::filesystem::path folder = {};
  std::vector<std::string> files = {};  ///< that were written, relative to the folder
  /// Why nothing was written: a column that could not be chosen, with the candidates. Empty: files are
  /// written.
  std::string undecided = {};
};

/// Throws UsageError or Error if the file cannot become an application; nothing is written then.
AppFromFile app_from_file(const AppNewRequest& request, const App& app);

}  // namespace encore::app
