// SPDX-License-Identifier: BSD-3-Clause
// runs_where() evaluates a condition on runs that a user writes after --where: "model.dropout > 0.1 AND
// test/f1 >= 0.6". The condition is SQL, with the names of run_columns.hpp. It runs on a connection of its
// own that can only read, because the text may come from anywhere. selection.cpp calls it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

/// An error in a condition. Its message has a line with the condition and one that marks the place in it.
class ConditionError : public Error {
 public:
  using Error::Error;
};

/// Returns the row numbers of the runs for which the condition is true, including removed runs. Throws
/// ConditionError.
std::vector<std::int64_t> runs_where(Store& store, const std::string& condition);

}  // namespace encore::store
