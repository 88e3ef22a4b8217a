// A condition on runs in SQL, as people write it behind --where: "model.dropout > 0.1 AND test/f1 >= 0.6". It
// is answered by a connection of its own that can only read. Names are those of run_columns.hpp. Place in the
// flow: select_runs (selection.hpp) asks here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// What is wrong with a condition: the message has a line with the text and one that points into it.
class ConditionError : public Error {
 public:
  using Error::Error;
};

/// The numbers of the runs for which it holds, removed ones too. Throws ConditionError.
std::vector<std::int64_t> runs_where(Store& store, const std::string& condition);

}  // namespace encore
