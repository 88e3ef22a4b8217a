// SPDX-License-Identifier: BSD-3-Clause
// The kinds of ASCII letters that the rules and the values of the step `extract` distinguish. rules.cpp,
// values.cpp, numbers.cpp and dates.cpp call these functions. They decide values of stored runs, so a change
// needs a new version of the step.
#pragma once

namespace encore::extract {

inline bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

inline bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

inline bool is_space(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

}  // namespace encore::extract
