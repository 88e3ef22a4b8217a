// SPDX-License-Identifier: BSD-3-Clause
// Collects facts about a run, field by field, and finds where two runs differ. `exp diff` compares all
// facts, `exp explain` those that make the question, nearest_run.hpp counts how many of them differ.
// candidates.cpp, bench_comparison.cpp and report/against.cpp name the differences of numeric environments.
// Nothing is stored, so fields may be added; programs read the names of fields in JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::analysis {

/// One fact about a run, such as {"configuration", "model.width", 384, "wnut17.toml:14:3"}.
struct Field {
  std::string section;  ///< configuration, data, environment, build, host, plugins, code, source of Encore:
                        ///< in this order
  std::string key;
  nlohmann::json value;
  std::string origin;  ///< place or source of a setting, path of a file; else empty
};

/// The facts of a run, sorted by section in the order above, then by key.
using Facts = std::vector<Field>;

/// Returns what a run computes: settings, seed, the content of the files it reads, and the backend. The place
/// of a file does not count, so settings that are paths are left out.
Facts question_facts(store::Store& store, const store::RunRow& run);
/// Returns these facts for a run that is planned and not in the database.
Facts question_facts(const record::Specification& specification);

/// All facts of a run.
struct RunFacts {
  Facts fields;
  /// Whether an attempt has reported its environment, build, host, plugins, code and source.
  bool told = false;
};

/// Returns all facts: the question, and what the last attempt with a report has reported about itself.
RunFacts all_facts(store::Store& store, const store::RunRow& run);

/// A fact with different values in two runs.
struct Difference {
  std::string section, key;
  nlohmann::json a, b;  ///< null on the side that lacks it
  std::string origin_a, origin_b;
};

/// Returns what differs, in the order of Facts.
std::vector<Difference> differences(const Facts& a, const Facts& b);

/// Returns what differs between two numeric environments (JSON): `device is "A" and "B"`; of plugins only
/// those that both have, because another layer is a difference of the question. Empty if they are equal.
std::vector<std::string> environment_differences(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace encore::analysis
