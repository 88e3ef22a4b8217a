// SPDX-License-Identifier: BSD-3-Clause
// Evaluates a condition on runs in SQL, as users write it behind --where: "model.dropout > 0.1 AND test/f1 >=
// 0.6". A connection of its own that can only read answers it. Names are those of run_columns.hpp.
// select_runs (selection.hpp) calls it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// Says what is wrong with a condition: the message has a line with the text and one that points into it.
class ConditionError : public Error {
 public:
  using Error::Error;
};

/// Returns the numbers of the runs for which it holds, removed ones too. Throws ConditionError.
std::vector<std::int64_t> runs_where(Store& store, const std::string& condition);

}  // namespace encore
