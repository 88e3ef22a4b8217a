// SPDX-License-Identifier: BSD-3-Clause
// reading_values_of() runs code that reads stored JSON and turns its exceptions into one Error: another
// program may have changed the JSON, or may have made the whole database. report/report.cpp, comparison.cpp,
// app/diff.cpp and app/database.cpp wrap their reading in it. Code that reads members of stored JSON for a
// user must be called through it, or the user gets a message of the JSON library that names no file.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore::analysis {

/// Calls `action` and returns its result. Throws Error that names the database of `store` if the JSON library
/// reports a missing member or a value of another type. Other exceptions pass unchanged. make_report()
/// (report/report.cpp) is one call of it:
///
///   return reading_values_of(store, [&] { return report_of(store, options); });
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
