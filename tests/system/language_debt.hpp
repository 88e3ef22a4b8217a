// SPDX-License-Identifier: BSD-3-Clause
// Compares the findings of language_test.cpp, words and sentences that break a rule of language_rules.hpp,
// with the numbers that language_debt.txt still allows for each place of the tree and kind of finding. The
// numbers may only become smaller. The functions touch no file, so that tests can pass made-up findings and
// text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "system/language_rules.hpp"

namespace encore::testing {

/// A finding with its file.
struct Found {
  std::string file;
  Finding finding;
};
/// The findings of each place, by kind. A place is a folder such as framework/base, or one page.
using Findings = std::map<std::string, std::map<std::string, std::vector<Found>>>;
/// The allowed number for each place and kind.
using Debt = std::map<std::string, std::map<std::string, std::size_t>>;

/// Returns the place of a file: its folder to a depth of two, below tests/ to a depth of three, since
/// tests/unit mirrors framework. A page is a place by itself.
std::string place_of(const std::string& file);

/// Reads lines of "COUNT PLACE KIND". A line that begins with '#' is a comment.
Debt read_debt(const std::string& text);

/// Returns one message for each number that does not fit. Too many findings are listed with their places and
/// what to write instead; for too few the message names the number to write.
std::vector<std::string> complaints(const Findings& found, const Debt& debt);

/// Returns the text of language_debt.txt with the numbers of `found`. With `only_lower` no number rises.
std::string written_debt(const Findings& found, const Debt& debt, bool only_lower);

}  // namespace encore::testing
