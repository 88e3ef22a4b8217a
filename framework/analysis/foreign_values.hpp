// JSON in a database may have another shape than Encore writes: somebody may have changed it, or made the
// whole file. Place in the flow: around what reads the values of many runs, report/report.cpp and
// comparison.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// What `action` returns. Throws Error that names the database where it finds a value of another shape.
template <class Action>
auto reading_values_of(const Store& store, Action action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    throw Error("database " + store.path().string() + " holds a value that Encore did not write: " +
                error.what() + "; if somebody changed it, restore a backup");
  }
}

}  // namespace encore
