// Guards against JSON of another shape than Encore writes: another program may have changed it, or made
// the whole database. It wraps what reads the values of many runs: report/report.cpp and
// comparison.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// Returns the result of `action`. Throws Error that names the database if a value has another shape.
template <class Action>
auto reading_values_of(const Store& store, Action action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    throw Error("database " + store.path().string() + " holds a value that Encore did not write: " +
                error.what() + "; if another program changed it, restore a backup");
  }
}

}  // namespace encore
