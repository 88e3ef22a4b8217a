// SPDX-License-Identifier: BSD-3-Clause
// RunPoint: one run, as an experiment file describes it: everything that a specification holds except the
// backend and the run's id. Place in the flow: PointMaker makes it, app/ makes a record::Specification from
// it (record/specification.hpp) and gives it to the store. A new member that a worker needs is needed there
// too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/origin.hpp"

namespace encore::plan {

struct ContentFile {
  std::string path;    ///< absolute
  std::string sha256;  ///< of its content, lower-case hex
};

struct RunPoint {
  std::string name;        ///< "wnut17-layers=4-dropout=0.1-s1", unique in its plan
  std::string group_name;  ///< the name without the seed; `name` itself if the experiment's name has {seed}
  std::int64_t seed = 0;
  std::string question;  ///< identity: SHA-256 of `canonical`
  std::string group;     ///< SHA-256 of the text without the seed; runs that differ in the seed only share it
  std::string canonical;  ///< the text that is hashed; `exp explain` shows it
  nlohmann::json config;  ///< task, data, tokenizer, model, optimizer, schedule, train: complete
  config::Origins origin;
  std::map<std::string, int> types;  ///< the versions of its types, by the table that names them
  /// The files by role: train, dev, test; a tokenizer's file by the name of its option (vocab); files of
  /// other tables by dotted key.
  std::map<std::string, ContentFile> data;
  /// What the sweep set, as text: {"model.layers", "4"}.
  std::vector<std::pair<std::string, std::string>> varied;
};

/// Returns the SHA-256 of a file or a folder, in lower-case hex. Throws Error.
using ContentHash = std::function<std::string(const std::filesystem::path& path)>;

}  // namespace encore::plan
