// SPDX-License-Identifier: BSD-3-Clause
// words_of_query() finds the words of a query and match_expression() writes them as a query of FTS5, the
// full-text search of SQLite. row_store.cpp calls both. A query comes from anyone, so no character of it may
// reach FTS5 as an operator. Which words count decides the scores of an index, so the rules must stay.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace encore::index {

/// The most words of a query that count: the time of a query grows with them, and a query of a person has
/// fewer.
inline constexpr std::size_t most_query_words = 256;

/// Returns the different words of a query in their order, in lower case where they are ASCII, at most
/// most_query_words. A word is a sequence of letters and digits of ASCII and of characters beyond ASCII. With
/// `drops_stop_words`, frequent English words are left out, unless the query has no others.
std::vector<std::string> words_of_query(std::string_view query, bool drops_stop_words);

/// Returns the query of FTS5 that finds documents with any of the words; "" if there are none.
std::string match_expression(const std::vector<std::string>& words);

}  // namespace encore::index
