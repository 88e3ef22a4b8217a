// SPDX-License-Identifier: BSD-3-Clause
// CheckRequest: the specifications that `encore-worker check` reads on its standard input. Place in the flow:
// runner/check.cpp writes it -> worker/check_verb.cpp reads it. Both programs come from one build, so the
// form may change. The runs of a sweep share most of their tables, so each table is sent once and a run is a
// list of numbers. A run is not sent at all if runs before it had all its tables, in the combinations that
// are checked together.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "record/specification.hpp"

namespace encore::record {

/// The worker answers with an empty line after this many runs, and at the end with the problems as JSON, for
/// which line ends are white space.
inline constexpr std::size_t checks_per_line = 100;

/// What the worker answers, in a list of them.
struct CheckProblem {
  std::size_t index = 0;  ///< of the run in the request
  std::string key;        ///< dotted, of the option with the invalid value; empty: not known
  std::string message;
};
void list(auto& field, A<CheckProblem> auto& problem) {
  field("index", problem.index);
  field("key", problem.key);
  field("message", problem.message);
}

class CheckRequest {
 public:
  /// A run as numbers of parts.
  struct Run {
    std::map<std::string, std::size_t> tables;    ///< of config, by name
    std::map<std::string, std::size_t> defaults;  ///< by name: the dotted keys of options that were not given
    std::size_t files = 0;                        ///< the plan's data
    std::size_t folders = 0;                      ///< of plugins

    /// Returns an equal text for runs that have this table and its given options in common: "12 13".
    std::string table(const std::string& name) const;
    friend void list(auto& field, A<Run> auto& run) {
      field("tables", run.tables);
      field("defaults", run.defaults);
      field("files", run.files);
      field("folders", run.folders);
    }
  };

  /// Adds a run and returns true. Returns false, without adding it, if earlier runs had all of its tables.
  /// The specification must stay alive until the next call.
  bool add(const Specification& specification);
  std::string text() const;
  /// Throws Error when the text is not a request.
  static CheckRequest parse(const std::string& text);

  std::size_t size() const { return runs_.size(); }
  const Run& run(std::size_t index) const { return runs_.at(index); }
  const nlohmann::json& part(std::size_t number) const { return parts_.at(number); }
  /// Returns the origins of defaults only, without places.
  config::Origins origins(const Run& run) const;
  /// Returns a specification with config, these origins, data and plugin folders only.
  Specification specification(const Run& run) const;

 private:
  friend void list(auto& field, A<CheckRequest> auto& request) {
    field("parts", request.parts_);
    field("runs", request.runs_);
  }
  std::size_t number_of(const std::string& name, const nlohmann::json& part);

  std::vector<nlohmann::json> parts_;
  std::vector<Run> runs_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< by text
  std::map<std::string, std::size_t> latest_;             ///< by name; the next number is mostly the same
  std::unordered_set<std::string> asked_;                 ///< the combinations that are checked together
};

}  // namespace encore::record
