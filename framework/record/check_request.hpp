// CheckRequest: the specifications that `encore-worker check` is asked about, on its standard input. The runs
// of a sweep share most of their tables, so each table is sent once and a run is a list of numbers; a run
// whose tables were all seen in runs before it, as far as they are looked at together, is not sent at all.
// The control program writes it (runner/check.hpp), the worker reads it (worker/check_verb.cpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/specification.hpp"

namespace encore {

/// The worker answers with an empty line for so many runs that it has looked at, and at the end with the
/// problems as JSON, for which line ends are white space.
inline constexpr std::size_t checks_per_line = 100;

class CheckRequest {
 public:
  /// Numbers of parts.
  struct Run {
    std::map<std::string, std::size_t> tables;    ///< of config, by name
    std::map<std::string, std::size_t> defaults;  ///< by name: the dotted keys of options nobody gave
    std::size_t files = 0;                        ///< the plan's data
    std::size_t folders = 0;                      ///< of plugins

    /// Equal for runs that have this table, and what was given of it, in common: "12 13".
    std::string table(const std::string& name) const;
  };

  /// False when everything in it is in runs that were added before; it is not added then. What was given has
  /// to stay where it is until the next call.
  bool add(const Specification& specification);
  std::string text() const;
  /// Throws Error when it is none.
  static CheckRequest parse(const std::string& text);

  std::size_t size() const { return runs_.size(); }
  const Run& run(std::size_t index) const { return runs_.at(index); }
  const nlohmann::json& part(std::size_t number) const { return parts_.at(number); }
  /// Those of defaults only, without places.
  Origins origins(const Run& run) const;
  /// With config, these origins, data and plugin folders, nothing else.
  Specification specification(const Run& run) const;

 private:
  std::size_t number_of(const std::string& name, const nlohmann::json& part);

  std::vector<nlohmann::json> parts_;
  std::vector<Run> runs_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< by text
  std::map<std::string, std::size_t> latest_;             ///< by name: mostly the next one is the same
  std::unordered_set<std::string> asked_;                 ///< what is looked at together
};

}  // namespace encore
