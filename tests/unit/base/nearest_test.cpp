// SPDX-License-Identifier: BSD-3-Clause
// Tests nearest() and did_you_mean() (base/nearest.hpp), which find the name that a user probably meant for
// messages about unknown names. No suggestion is better than a wrong one, and a hostile name or a long list
// must not take long. The endings of messages are compared word by word.
#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace encore {
namespace {

TEST(Nearest, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(edit_distance("dropuot", "dropout"), 1);
  EXPECT_EQ(edit_distance("heads", "head"), 1);
  EXPECT_EQ(edit_distance("Width", "width"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("ca", "abc"), 3);  // restricted: no part is edited twice
}

TEST(Nearest, FindsTheNearestName) {
  EXPECT_EQ(nearest("warmup_step", {"weight_decay", "warmup_steps"}), "warmup_steps");
  EXPECT_EQ(nearest("attnetion", {"feed_forward", "attention"}), "attention");
  EXPECT_EQ(nearest("bata", {"beta", "data"}), "beta") << "the first of equals";
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("momentum", {"heads", "dropout"}), std::nullopt);
  EXPECT_EQ(nearest("lr", {"learning_rate"}), std::nullopt);
  EXPECT_EQ(nearest("width", {}), std::nullopt);
}

TEST(Nearest, KnowsTheWordsOfAName) {
  const std::vector<std::string> names = {"heads", "attention_dropout", "type"};
  EXPECT_EQ(did_you_mean("dropuot", names), "; did you mean \"attention_dropout\"?");
  EXPECT_EQ(did_you_mean("window", names), "");
  EXPECT_EQ(did_you_mean("adamw_torch", {"adam", "adamw", "lamb"}), "; did you mean \"adamw\"?");
  EXPECT_EQ(did_you_mean("att", {"attn_att"}), "") << "too short to be meant";
}

TEST(Nearest, SearchesNeitherForInvalidNamesNorForEver) {
  EXPECT_EQ(nearest(std::string(100000, 'x'), {std::string(100000, 'x')}), std::nullopt);
  std::vector<std::string> names(20000, "other");
  names.back() = "dropout";
  EXPECT_EQ(did_you_mean("dropuot", names), "") << "only the beginning of a long list is searched";
  names.front() = "dropout";
  EXPECT_EQ(did_you_mean("dropuot", names), "; did you mean \"dropout\"?");
}

TEST(Nearest, MakesTheEndOfASentence) {
  EXPECT_EQ(did_you_mean("dropuot", {"dropout"}), "; did you mean \"dropout\"?");
  EXPECT_EQ(did_you_mean("x", {"dropout"}, "; it takes other names"), "; it takes other names");
}

}  // namespace
}  // namespace encore
