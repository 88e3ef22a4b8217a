// SPDX-License-Identifier: BSD-3-Clause
// Specification: all that a worker needs to know about one run; the file specification.json in the run's
// folder. Place in the flow: plan/ fills it, store/ gives the run its id, runner/prepare_work.cpp writes it,
// the worker reads it. exp and the worker see the experiment only in this form. Runs of earlier versions
// must resume: members keep their names, and a new one is optional. Read next: config/resolve.hpp, which
// makes `config` and `origin`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/origin.hpp"

namespace encore::record {

/// A file that a run reads, with the SHA-256 of its content when the run was planned.
struct DataFile {
  std::string path;  ///< absolute
  std::string sha256;
};

/// Returns the role, or dotted key, of one of several files: "train" is the first (0), "train.2" the second.
std::string numbered_file(const std::string& role, std::size_t index);
/// Returns the paths of the files of a role, in their order.
std::vector<std::string> files_of_role(const std::map<std::string, DataFile>& data, const std::string& role);

/// The role in Specification::data of what `model.from` names: a folder or the weights of a run.
inline constexpr const char* pretrained_role = "model.from";
/// The role of `distil.teacher`: the weights of a run.
inline constexpr const char* teacher_role = "distil.teacher";

/// The role of the files of `data.more`.
inline constexpr const char* added_role = "more";

/// Throws Error, naming file and role ("train"), if the content is not the planned one.
void require_planned(const DataFile& planned, const std::string& role, const std::string& sha256);

/// Says which checkpoint is kept if several have the best value of the metric that `train.select` names, or
/// if none has a value (best_checkpoint.hpp).
enum class Ties : std::uint8_t {
  first,  ///< the earliest: the rule of specifications that name none, such as those of earlier versions
  loss,   ///< that of the lowest dev/loss; of equal ones the latest
};

/// Returns the name in the specification and the run's result: "loss"; empty for Ties::first.
const char* name_of(Ties ties);

struct Specification {
  std::string run;  ///< id, given by the store
  std::string name;
  std::uint64_t seed = 1;
  std::string question;     ///< SHA-256 of the canonical experiment
  std::string group;        ///< SHA-256 of that experiment without the seed
  std::string backend;      ///< "openmp", "serial", "cuda", "hip"
  Ties ties = Ties::first;  ///< not in the question: a change does not train complete runs again
  nlohmann::json config =
      nlohmann::json::object();  ///< the resolved experiment, tables as in the experiment file
  config::Origins origin;        ///< by dotted key
  /// The version of each type (layer, task and others) when the run was planned, by the table that names it.
  /// With types of these versions `question` can be computed again from `config`. Empty in old files.
  std::map<std::string, int> types = {};
  /// The files by role: "train", "dev", "test", "vocab"; "train.2" and so on if the training set has several
  /// files; "more".
  std::map<std::string, DataFile> data;
  std::vector<std::string> plugin_folders;  ///< absolute

  nlohmann::json to_json() const;
  /// Throws Error that names the member that is missing or has the wrong type; `where` begins the message.
  static Specification from_json(const nlohmann::json& json, const std::string& where = "specification");

  /// Writes specification.json into the run folder, atomically and durably. Makes the folder if it is
  /// missing.
  void save(const std::filesystem::path& run_folder) const;
  static Specification load(const std::filesystem::path& run_folder);
};

/// Returns whether its run takes over the weights of `model.from` and trains nothing (train.epochs = 0).
bool trains_nothing(const Specification& specification);

/// The file of an application's folder with the knowledge of its steps, in place of weights.
inline constexpr const char* application_file = "application.json";
/// Returns whether its run is an application ([app]), which fits steps and trains nothing.
bool is_application(const Specification& specification);
/// Returns what the run does, as the database stores it: "training" or "application".
const char* kind_of(const Specification& specification);

/// A table of a resolved experiment that names another run: by its id or, if an experiment file asks for it,
/// by its question.
struct RunLink {
  std::string run = {};  ///< id; empty: `experiment` asks for it
  std::string experiment = {}, question = {};
};
/// Returns these tables by their dotted keys (config::names_run).
std::map<std::string, RunLink> run_links(const nlohmann::json& config);

}  // namespace encore::record
