// Parent: the run that another one starts from, as a plan must know it; and ParentSource, which finds it. The
// database and other experiment files are the control program's business (app/parent_runs.hpp), so that a
// plan asks for them through this interface. Read next: parent_filler.hpp, which uses it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "config/origin.hpp"
#include "plan/run_point.hpp"

namespace encore {

struct Parent {
  std::string title;      ///< how messages call it: `run pre (0123456789)`, `/home/anna/pretrain.toml`
  std::string id;         ///< of a run that is there; empty for one that an experiment file asks for
  std::string question;   ///< its identity
  nlohmann::json config;  ///< the resolved experiment, or its tables model, tokenizer and data
  Origins origin;
  /// Of a run that is there: its weights with their digest, and the pieces of its tokenizer.
  std::optional<ContentFile> weights = {};
  std::filesystem::path vocabulary = {};
};

class ParentSource {
 public:
  virtual ~ParentSource() = default;
  /// A completed run of the database, by name or id. Throws Error. What is returned is valid until the source
  /// ends.
  virtual const Parent& run(const std::string& word) = 0;
  /// The one run that an experiment file asks for, or the one called `name`, unless that is empty. Throws
  /// Error, ConfigErrors where the file is wrong.
  virtual const Parent& experiment(const std::filesystem::path& file, const std::string& name) = 0;
};

}  // namespace encore
