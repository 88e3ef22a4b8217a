// SPDX-License-Identifier: BSD-3-Clause
// Tests how the words of a query are found and written for FTS5 (index/query_words.cpp): no character of a
// query may act as an operator. document_index_test.cpp passes such queries to SQLite.
#include "index/row_store.hpp"

#include <gtest/gtest.h>

namespace encore::index {
namespace {

using Words = std::vector<std::string>;

TEST(QueryWords, AreDifferentWordsInTheirOrder) {
  EXPECT_EQ(words_of_query("The cat, the CAT: the end", false), (Words{"the", "cat", "end"}));
  EXPECT_EQ(words_of_query("don't e-mail 2nd", false), (Words{"don", "t", "e", "mail", "2nd"}));
  EXPECT_EQ(words_of_query("Stra\xC3\x9F"
                           "e",
                           false),
            (Words{"stra\xC3\x9F"
                   "e"}));
  EXPECT_EQ(words_of_query(" \t()\"*^:", false), Words());
}

TEST(QueryWords, LeaveOutStopWordsUnlessThereAreNoOthers) {
  EXPECT_EQ(words_of_query("what is the time", true), (Words{"what", "time"}));
  EXPECT_EQ(words_of_query("to be or not to be", true), (Words{"to", "be", "or", "not"}));
}

TEST(QueryWords, AreLimitedInNumber) {
  std::string query;
  for (int i = 0; i < 100'000; ++i) query += "w" + std::to_string(i) + " ";
  EXPECT_EQ(words_of_query(query, false).size(), most_query_words);
}

TEST(QueryWords, StandInQuotationMarks) {
  EXPECT_EQ(match_expression({"a", "near"}), R"("a" OR "near")");
  EXPECT_EQ(match_expression({}), "");
  EXPECT_EQ(match_expression(words_of_query("a\" OR text:b NOT (c* NEAR d)", false)),
            R"("a" OR "or" OR "text" OR "b" OR "not" OR "c" OR "near" OR "d")");
}

}  // namespace
}  // namespace encore::index
