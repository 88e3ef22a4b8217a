// SPDX-License-Identifier: BSD-3-Clause
// without_remedy(): takes the end of a reader's message that says how invalid rows are left out
// (plugins/readers/row_problems.hpp), so that tests of readers compare the rows alone.
// Tsv.SaysWhatElseCanBeDone tests the end itself.
#pragma once

#include <string>

#include "row_problems.hpp"

namespace encore {

inline std::string without_remedy(std::string message) {
  if (const std::string remedy = skip_remedy; message.ends_with(remedy))
    message.resize(message.size() - remedy.size());
  return message;
}

}  // namespace encore
