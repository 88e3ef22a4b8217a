// SPDX-License-Identifier: BSD-3-Clause
// The rules of language_test.cpp: which words and half sentences are retired, and what to write instead. The
// table of words in language_rules.cpp is the part to change: add a row, then raise the numbers of
// language_debt.txt as the head of that file says. The reasons stand in docs/internals/style.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "system/prose.hpp"

namespace encore::testing {

/// One place that breaks a rule.
struct Finding {
  std::string kind;    ///< "tell", "half sentence" ...
  int line = 0;        ///< in the file, counted from 1
  std::string found;   ///< the words as the file has them
  std::string advice;  ///< what to write instead
};

/// What the prose of a file breaks: retired words in all of it, half sentences in comments, names of tests
/// that are not in PascalCase, a file of code whose first comment has no sentence, and one without the
/// license.
std::vector<Finding> findings_in_prose(const std::string& file, std::string_view content);

/// Lines of a page over 120 characters, counted in code points, and a page over 250 lines. Rows of tables are
/// exempt from the first, since Markdown cannot break them.
std::vector<Finding> length_findings(std::string_view page);

/// The kinds of all findings, for tests that want to see each of them.
std::vector<std::string> kinds_of_findings();

}  // namespace encore::testing
