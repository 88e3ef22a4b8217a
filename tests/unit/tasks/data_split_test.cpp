// SPDX-License-Identifier: BSD-3-Clause
// Tests split_of() and content_hash() (tasks/data_split.hpp), which divide one file into data sets
// (data.split): the data set of a record depends on its content, not on its place. Existing runs were split
// by this hash, so it must not change (TheFormIsFrozen). The file also tests LengthCounts
// (tasks/length_share.hpp).
#include "tasks/data_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include <encore/error.hpp>

#include "tasks/length_share.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::tasks {
namespace {

using Texts = Records::Texts;

const TaskFields fields = {.structure = {"text"}, .truth = {"label"}, .optional = {"text2"}};
const std::vector<double> shares = {0.8, 0.1, 0.1};

Records records_of(const Texts& texts) {
  Records records;
  records.add("text", texts);
  records.add("label", Texts(texts.size(), "x"));
  return records;
}

Texts numbered(int count) {
  Texts texts;
  for (int i = 0; i < count; ++i) texts.push_back("text number " + std::to_string(i));
  return texts;
}

std::map<std::string, data::Split> places(const Records& records) {
  std::map<std::string, data::Split> places;
  const auto sets = split_records(records, fields, shares);
  for (const data::Split split : data::all_splits)
    for (const std::string& text : sets[static_cast<std::size_t>(split)].texts("text")) places[text] = split;
  return places;
}

TEST(DataSplit, SharesAreKeptAndEveryRecordIsInOneSet) {
  const auto sets = split_records(records_of(numbered(10000)), fields, shares);
  EXPECT_EQ(sets[0].size() + sets[1].size() + sets[2].size(), 10000U);
  // The tolerance is four standard deviations of a binomial count.
  EXPECT_NEAR(static_cast<double>(sets[0].size()), 8000.0, 160.0);
  EXPECT_NEAR(static_cast<double>(sets[1].size()), 1000.0, 120.0);
  EXPECT_NEAR(static_cast<double>(sets[2].size()), 1000.0, 120.0);
}

TEST(DataSplit, ARecordNeverMoves) {
  Texts texts = numbered(500);
  const std::map<std::string, data::Split> before = places(records_of(texts));
  std::ranges::shuffle(texts, std::mt19937(7));
  EXPECT_EQ(places(records_of(texts)), before);
  texts.insert(texts.begin(), "a new one");
  texts.insert(texts.begin() + 100, "another");
  for (const auto& [text, split] : places(records_of(texts))) {
    if (!before.contains(text)) continue;
    EXPECT_EQ(split, before.at(text)) << text;
  }
  texts.resize(50);
  for (const auto& [text, split] : places(records_of(texts))) {
    if (!before.contains(text)) continue;
    EXPECT_EQ(split, before.at(text)) << text;
  }
}

TEST(DataSplit, TheOrderWithinASetIsThatOfTheFile) {
  const Texts texts = numbered(300);
  for (const Records& set : split_records(records_of(texts), fields, shares)) {
    const Texts& kept = set.texts("text");
    auto at = texts.begin();
    for (const std::string& text : kept) at = std::find(at, texts.end(), text);
    EXPECT_NE(at, texts.end());
  }
}

/// Returns records of the labels "a" to "d", which have 10, 20, 30 and 200 of them.
Records labelled_records() {
  Texts texts, labels;
  const int counts[] = {10, 20, 30, 200};
  for (int i = 0; i < 200; ++i)
    for (int label = 0; label < 4; ++label)
      if (i < counts[label]) {
        texts.push_back("text " + std::to_string(i) + " of " + std::to_string(label));
        labels.emplace_back(1, static_cast<char>('a' + label));
      }
  Records records;
  records.add("text", texts);
  records.add("label", labels);
  return records;
}

TEST(DataSplit, EachLabelIsDividedInTheseShares) {
  const auto sets = split_each_label(labelled_records(), fields, shares);
  const auto count = [&](std::size_t set, const std::string& label) {
    return std::ranges::count(sets[set].texts("label"), label);
  };
  EXPECT_EQ(std::vector({count(0, "a"), count(1, "a"), count(2, "a")}),
            (std::vector<std::ptrdiff_t>{8, 1, 1}));
  EXPECT_EQ(std::vector({count(0, "b"), count(1, "b"), count(2, "b")}),
            (std::vector<std::ptrdiff_t>{16, 2, 2}));
  EXPECT_EQ(std::vector({count(0, "c"), count(1, "c"), count(2, "c")}),
            (std::vector<std::ptrdiff_t>{24, 3, 3}));
  EXPECT_EQ(std::vector({count(0, "d"), count(1, "d"), count(2, "d")}),
            (std::vector<std::ptrdiff_t>{160, 20, 20}));
}

/// The sets do not depend on the order of the file, and a text with two labels is in one set only.
TEST(DataSplit, EachLabelIsDividedByContent) {
  const Records records = labelled_records();
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(3));
  const auto sets = split_each_label(records, fields, shares),
             shuffled = split_each_label(selected(records, order), fields, shares);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const Texts& of_file = sets[set].texts("text");
    const Texts& of_shuffled = shuffled[set].texts("text");
    EXPECT_EQ(std::set(of_file.begin(), of_file.end()), std::set(of_shuffled.begin(), of_shuffled.end()));
  }
  Records twice = labelled_records(), other = labelled_records();
  Records relabelled;
  relabelled.add("text", other.texts("text"));
  relabelled.add("label", Texts(other.size(), "e"));
  const auto both = split_each_label(joined({twice, relabelled}), fields, shares);
  std::map<std::string, std::set<std::size_t>> places;
  for (std::size_t set = 0; set < both.size(); ++set)
    for (const std::string& text : both[set].texts("text")) places[text].insert(set);
  for (const auto& [text, where] : places) EXPECT_EQ(where.size(), 1U) << text;
}

TEST(DataSplit, TheTruthAndTheNotesDoNotCount) {
  Records records = records_of(numbered(100)), other;
  records.notes = {"a note"};
  other.add("label", Texts(100, "another"));  // in another order of fields, too
  other.add("text", numbered(100));
  EXPECT_EQ(places(records), places(other));
  EXPECT_EQ(split_records(records, fields, shares)[0].notes, Texts{"a note"});
  EXPECT_TRUE(split_records(records, fields, shares)[1].notes.empty());
}

TEST(DataSplit, EveryFieldThatPredictionHasCounts) {
  const auto hash = [](const std::string& text, const std::string& text2) {
    Records records = records_of({text});
    records.add("text2", Texts{text2});
    return content_hash(records, 0, fields);
  };
  std::set<std::uint64_t> hashes = {content_hash(records_of({"ab"}), 0, fields), hash("a", "b"),
                                    hash("ab", ""), hash("", "ab"), hash("b", "a")};
  EXPECT_EQ(hashes.size(), 5U);
  EXPECT_EQ(hash("a", "b"), hash("a", "b"));
}

TEST(DataSplit, ListsNumbersAndSpansCount) {
  const auto hash = [](Records::Values values) {
    Records records;
    records.add("text", std::move(values));
    return content_hash(records, 0, fields);
  };
  using Lists = Records::TextLists;
  using Spans = Records::SpanLists;
  std::set<std::uint64_t> hashes;
  for (const Lists& lists : {Lists{{"a", "b"}}, Lists{{"ab"}}, Lists{{"a", "", "b"}}, Lists{{}}})
    hashes.insert(hash(lists));
  for (const double number : {0.0, 1.0, 1.0000000000000002}) hashes.insert(hash(Records::Numbers{number}));
  hashes.insert(hash(Spans{{{.label = "p", .text = "x", .start = 0, .end = 1}}}));
  hashes.insert(hash(Spans{{{.label = "p", .text = "x", .start = 1, .end = 2}}}));
  EXPECT_EQ(hashes.size(), 9U);
  EXPECT_EQ(hash(Records::Numbers{0.0}), hash(Records::Numbers{-0.0}));
}

TEST(DataSplit, TheFormIsFrozen) {
  // Existing runs were split by this rule: a change of it changes their sets.
  EXPECT_EQ(content_hash(records_of({"Anna lives in Lund"}), 0, fields), 0xb3ffd32969e5f219ULL);
  EXPECT_EQ(split_of(0, shares), data::Split::train);
  EXPECT_EQ(split_of(~std::uint64_t{0}, shares), data::Split::test);
  EXPECT_EQ(split_of(~std::uint64_t{0}, std::vector{0.5, 0.5}), data::Split::dev);
  EXPECT_EQ(split_of(std::uint64_t{1} << 63, std::vector{0.5, 0.5}), data::Split::dev)
      << "a share begins with its place";
}

TEST(DataSplit, RefusesRecordsWithoutTheField) {
  Records records;
  records.add("words", Records::TextLists{{"a"}});
  EXPECT_EQ(testing::message_of<Error>([&] { content_hash(records, 0, fields); }),
            "the records have no field \"text\", by which they are cut into sets");
}

TEST(JoinedRecords, AreInOrderWithAllNotes) {
  Records a = records_of({"a", "b"}), b = records_of({"c"});
  a.notes = {"of a"};
  b.notes = {"of b"};
  const Records both = joined({a, b});
  EXPECT_EQ(both.texts("text"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(both.notes, (Texts{"of a", "of b"}));
  EXPECT_EQ(joined({}).size(), 0U);
}

TEST(LengthCounts, GivesTheLengthThatAShareDoesNotExceed) {
  LengthCounts counts;
  std::vector<std::int32_t> lengths(100);
  std::iota(lengths.begin(), lengths.end(), 1);
  counts.add(lengths);
  EXPECT_EQ(counts.covering(95, 3), 95);
  EXPECT_EQ(counts.covering(94.5, 3), 95);
  EXPECT_EQ(counts.covering(100, 3), 100);
  EXPECT_EQ(counts.covering(0.5, 3), 3) << "no less than the markers and one token";
  counts.add(std::vector<std::int32_t>(900, 5));
  EXPECT_EQ(counts.covering(90, 3), 5);
  EXPECT_EQ(counts.total(), 1000);
  EXPECT_EQ(percent_text(99.5), "99.5%");
}

}  // namespace
}  // namespace encore::tasks
