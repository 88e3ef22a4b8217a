// SPDX-License-Identifier: BSD-3-Clause
// The content of the two experiment files that `exp app new` writes: that of the model, and the application
// that asks it. Pure functions of AppFilesPlan; app_from_file.cpp calls them and writes the files. Users edit
// the files, so each option has a comment that says what may be changed. Read next: docs/guides/support.md.
#pragma once

#include <optional>
#include <string>

#include "app/app_shares.hpp"
#include "record/survey_answer.hpp"

namespace encore::app {

/// The model that a training starts from: a folder as `transformers` saves it, or a run.
struct AppBase {
  std::string folder = {};  ///< relative to the files
  std::string run = {};
};

struct AppFilesPlan {
  std::string name = {};             ///< of the application
  std::string file = {};             ///< the user's data, relative to the files
  std::string test = {};             ///< its own test set; empty: none
  record::SurveyAnswer survey = {};  ///< with `found`
  AppShares shares = {};
  double error = 0.05;
  std::optional<std::string> out_of_scope = {};
  std::string likely_out_of_scope = {};  ///< a class that may be it, for a comment; empty: none
  std::optional<AppBase> base = {};      ///< none: the model is trained from scratch
};

/// Returns the name of the run of the model.
std::string model_name(const std::string& application);
/// The names of the files, in one folder.
inline constexpr const char* model_file_name = "model.toml";
inline constexpr const char* app_file_name = "app.toml";

std::string model_file_text(const AppFilesPlan& plan);
std::string app_file_text(const AppFilesPlan& plan);

}  // namespace encore::app
