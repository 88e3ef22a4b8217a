// SPDX-License-Identifier: BSD-3-Clause
// Tests unused_tables() (config/experiment_file.hpp): the notices of `exp plan` and `exp run` about tables of
// a base file that have no effect because a nearer file replaces them. Each rule of replacement is tested
// with its exceptions. The notices may change; the experiment itself must not depend on them.
#include "config/experiment_file.hpp"

#include <gtest/gtest.h>

namespace encore::config {
namespace {

using Notes = std::vector<std::string>;

/// Returns the notices about files with this text: the experiment file first, then its base, then the base of
/// that.
Notes notes_of(const std::vector<std::string>& texts) {
  const char* names[] = {"near.toml", "base.toml", "far.toml"};
  std::vector<SourceFile> sources;
  for (std::size_t i = 0; i < texts.size(); ++i) sources.push_back({names[i], texts[i]});
  return unused_tables(sources);
}

TEST(UnusedTables, ASearchReplacesTheSweepOfABase) {
  EXPECT_EQ(notes_of({"base = \"base.toml\"\n[search]\ntrials = 4\n",
                      "[sweep.grid]\n\"model.layers\" = [1, 2]\n[sweep.when]\n\"a.b\" = \"c.d == 1\"\n"}),
            (Notes{"base.toml:1:2: [sweep.grid] and [sweep.when] of a base: not used, because the file that "
                   "builds on it has a [search] of its own: near.toml:2:2"}));
}

TEST(UnusedTables, SoDoASweepAndASecondSearch) {
  EXPECT_EQ(notes_of({"[sweep]\ndraws = 2\n", "[search]\ntrials = 4\n[search.space]\n"}).size(), 1U);
  EXPECT_EQ(notes_of({"[sweep]\ndraws = 2\n", "[[sweep.zip]]\na.b = [1]\n"}).size(), 1U);
  EXPECT_EQ(notes_of({"[search]\n", "[search]\n"}).size(), 1U);
  // A table that no nearer file replaces is used. In the second case base.toml replaces the table of
  // far.toml.
  EXPECT_EQ(notes_of({"seed = 1\n", "[sweep]\ndraws = 2\n"}), Notes());
  const Notes far = notes_of({"seed = 1\n", "[search]\n", "[sweep]\ndraws = 2\n"});
  ASSERT_EQ(far.size(), 1U);
  EXPECT_TRUE(far.front().starts_with("far.toml:1:2: [sweep] ")) << far.front();
  EXPECT_TRUE(far.front().ends_with(" base.toml:1:2")) << far.front();
}

TEST(UnusedTables, AnotherTypeOfDataTakesOptionsOfEncoreAlong) {
  const std::string base =
      "[data]\ntype = \"conll\"\ntrain = \"a\"\ncomment = \"#\"\nmax_length = 64\nprivate = true\n";
  EXPECT_EQ(notes_of({"[data]\ntype = \"tsv\"\ntrain = \"b\"\nmax_length = 32\n", base}),
            (Notes{"base.toml:6:1: \"private\" of a base's [data]: not used, because the file that builds on "
                   "it names another type: near.toml:2:1"}));
  EXPECT_EQ(notes_of({"[data]\ntype = \"conll\"\n", base}), Notes());
  EXPECT_EQ(notes_of({"[data]\ntrain = \"b\"\n", base}), Notes());
  // The base in the middle replaces tables of its own base, too.
  EXPECT_EQ(notes_of({"[data]\ntrain = \"b\"\n", "[data]\ntype = \"tsv\"\nmax_length = 9\n", base}).size(),
            1U);
}

TEST(UnusedTables, InvalidTomlFilesHaveNoNotes) {
  EXPECT_EQ(notes_of({"[search]\n", "[sweep\n"}), Notes());
  EXPECT_EQ(notes_of({}), Notes());
}

}  // namespace
}  // namespace encore::config
