// SPDX-License-Identifier: BSD-3-Clause
// Parent: the run from which another one starts (model.from), as a plan needs it; ParentSource: the interface
// that finds it. Place in the flow: app/parent_runs.hpp implements it with the database and other experiment
// files, which plan/ must not know -> parent_filler.cpp uses it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "config/origin.hpp"
#include "plan/run_point.hpp"

namespace encore::plan {

struct Parent {
  std::string title;       ///< its name in messages: `run pre (0123456789)`, `/home/anna/pretrain.toml`
  std::string id;          ///< of a run of the database; empty for one that an experiment file asks for
  std::string question;    ///< its identity
  nlohmann::json config;   ///< the resolved experiment, or its tables model, tokenizer and data
  config::Origins origin;  ///< of these options
  /// For a run of the database: its weights with their digest, and the vocabulary of its tokenizer.
  std::optional<ContentFile> weights = {};
  std::filesystem::path vocabulary = {};
};

class ParentSource {
 public:
  virtual ~ParentSource() = default;
  /// Returns a completed run of the database, by name or id. Throws Error. The result is valid as long as the
  /// source.
  virtual const Parent& run(const std::string& word) = 0;
  /// Returns the only run that an experiment file asks for, or the one called `name` unless that is empty.
  /// Throws Error, or ConfigErrors if the file is wrong.
  virtual const Parent& experiment(const std::filesystem::path& file, const std::string& name) = 0;
  /// Returns the run that `exp import` makes of the folder of a Hugging Face model. Throws likewise.
  virtual const Parent& imported(const std::filesystem::path& folder) = 0;
};

}  // namespace encore::plan
