// SPDX-License-Identifier: BSD-3-Clause
// reading_values_of() runs code that reads stored JSON and turns its exceptions into one Error: another
// program may have changed the JSON, or may have made the whole database. report/report.cpp, comparison.cpp,
// app/diff.cpp and app/database.cpp wrap their reading in it.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore::analysis {

/// Returns the result of `action`. Throws Error that names the database if a value has another shape.
template <class Action>
auto reading_values_of(const store::Store& store, Action action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    throw Error("database " + store.path().string() + " holds a value that Encore did not write: " +
                error.what() + "; if another program changed it, restore a backup");
  }
}

}  // namespace encore::analysis
