// SPDX-License-Identifier: BSD-3-Clause
// Tests encode_records() (data/encode.hpp): a task turns each record into token ids and columns, on several
// threads. The set must be equal for any number of threads, several sequences of a record stay together, and
// wrong output of a task is rejected with the number of the record. Also tests the checks of ExampleSet.
// Batches are made of the set next (batch_plan_test.cpp).
#include "data/encode.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/record/temporary_folder.hpp"

namespace encore::data {
namespace {

using Values = std::vector<std::int32_t>;

/// A task whose record i has 1 + i % 7 ids from 100 i on, and one column of each kind: "words" (as many
/// values as it likes), targets (one for each id; the truth) and "length" (one for each sequence).
/// `break_record` changes record 3 to something invalid; without `truth` no record has targets.
class ColumnTask final : public Task {
 public:
  explicit ColumnTask(std::function<void(EncodedExample&)> break_record = {}, bool truth = true)
      : break_(std::move(break_record)), truth_(truth) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return ""; }
  void restore(std::string_view) override {}
  TextCounts text_counts(const Records&) const override { return {}; }
  std::vector<ColumnRule> columns() const override {
    return {{.name = "words", .space = Space::ragged},
            {.name = targets_column, .truth = true},
            {.name = "length", .space = Space::sequences}};
  }
  std::vector<OutputRule> outputs() const override { return {}; }
  void encode(const Records& records, std::size_t record, const Tokenizer&,
              EncodedExample& to) const override {
    const auto length = static_cast<std::int32_t>(records.numbers("length")[record]);
    for (std::int32_t i = 0; i < length; ++i) to.ids.push_back(static_cast<std::int32_t>(record) * 100 + i);
    for (std::int32_t i = 1; i < length; i += 2) to.integers(0).push_back(i);
    if (truth_) to.integers(1).assign(to.ids.size(), length);
    to.integers(2) = {length};
    if (record == 3 && break_) break_(to);
  }
  SetDescription describe(const ExampleSet&) const override { return {}; }
  void measure(const ExampleSet&, const Outputs&, Statistics&) const override {}
  Records label(const Records&, const ExampleSet&, const Outputs&) const override { return {}; }

 private:
  std::function<void(EncodedExample&)> break_;
  bool truth_;
};

/// A tokenizer that encodes nothing, since ColumnTask writes its ids itself; only its number of tokens
/// matters.
class NoTokenizer final : public Tokenizer {
 public:
  explicit NoTokenizer(std::size_t tokens = 0) : tokens_(tokens) {}
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return tokens_; }
  std::optional<std::int32_t> find(Special) const override { return {}; }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }

 private:
  void append_tokens(std::string_view, std::vector<std::int32_t>&, std::vector<ByteRange>*) const override {}

  std::vector<std::string> tokens_;
};

Records records_of(std::size_t count) {
  Records::Numbers lengths;
  for (std::size_t i = 0; i < count; ++i) lengths.push_back(static_cast<double>(1 + i % 7));
  Records records;
  records.add("length", lengths);
  return records;
}

ExampleSet encoded(const Task& task, std::size_t count, int threads = 1) {
  return encode_records(task, records_of(count), NoTokenizer(), 7, threads);
}

TEST(Encode, KeepsEachRecordsColumns) {
  const ExampleSet set = encoded(ColumnTask(), 9);
  ASSERT_EQ(set.size(), 9u);
  EXPECT_TRUE(std::ranges::equal(set.ids(3), Values{300, 301, 302, 303}));
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column("words"), 3), Values{1, 3}));
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column("words"), 7), Values{}));
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column("length"), 8), Values{2}));
  EXPECT_EQ(set.rows(Space::tokens, 2).first, 3u);
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column(targets_column), 1), Values{2, 2}));
  EXPECT_EQ(set.sequences(8).first, 8u);
  EXPECT_EQ(set.sequences(8).count, 1u);
}

TEST(Encode, IsTheSameOnAnyNumberOfThreads) {
  const ExampleSet one = encoded(ColumnTask(), 5000);
  for (const int threads : {2, 7}) {
    const ExampleSet many = encoded(ColumnTask(), 5000, threads);
    EXPECT_TRUE(std::ranges::equal(one.arrays().lengths, many.arrays().lengths));
    EXPECT_TRUE(std::ranges::equal(one.arrays().ids, many.arrays().ids));
    for (std::size_t i = 0; i < one.columns().size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(one.columns()[i].integers, many.columns()[i].integers)) << i;
      EXPECT_TRUE(std::ranges::equal(one.columns()[i].counts, many.columns()[i].counts)) << i;
    }
  }
}

TEST(Encode, RefusesWhatDoesNotFit) {
  const auto refusal = [](std::function<void(EncodedExample&)> change) {
    return testing::message_of<Error>([&] { encoded(ColumnTask(std::move(change)), 9); });
  };
  EXPECT_EQ(refusal([](EncodedExample& to) { to.ids.clear(); }),
            "the task gives 0 ids for record 4; it must be at least 1 and at most data.max_length = 7");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.ids.resize(8); }),
            "the task gives 8 ids for record 4; it must be at least 1 and at most data.max_length = 7");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.integers(1).pop_back(); }),
            "the task gives 3 values of column \"targets\" for record 4, which needs 4");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.integers(2).clear(); }),
            "the task gives 0 values of column \"length\" for record 4, which needs 1");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns.pop_back(); }),
            "the task gives 2 columns for record 4 and declares 3");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.numbers(2).push_back(1.0F); }),
            "the task gives the column \"length\" for record 4 values of another type");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.target_ids.resize(8); }),
            "the task gives 8 ids of the second text for record 4; it must be at least 1 and at most "
            "data.max_length = 7");
}

TEST(Encode, NumbersTheRecordThatTheTaskRefuses) {
  const ColumnTask refusing([](EncodedExample&) { throw Error("invalid level 4.5"); });
  const auto refusal = [&](std::size_t earlier, int threads) {
    return testing::message_of<RefusedRecord>(
        [&] { encode_records(refusing, records_of(9), NoTokenizer(), 7, threads, earlier); });
  };
  for (const int threads : {1, 4}) EXPECT_EQ(refusal(0, threads), "record 4: invalid level 4.5");
  EXPECT_EQ(refusal(1000, 1), "record 1004: invalid level 4.5") << "a later part of its set";
  const ColumnTask empty([](EncodedExample& to) { to.ids.clear(); });
  EXPECT_EQ(
      testing::message_of<Error>([&] { encode_records(empty, records_of(9), NoTokenizer(), 7, 1, 1000); }),
      "the task gives 0 ids for record 1004; it must be at least 1 and at most data.max_length = 7");
}

TEST(Encode, KeepsSeveralSequencesOfARecordTogether) {
  const ExampleSet set = encoded(ColumnTask([](EncodedExample& to) {
                                   to.clear();
                                   to.ids = {7};
                                   to.integers(1) = {1};
                                   to.integers(2) = {1};
                                   to.end_sequence();
                                   to.ids.insert(to.ids.end(), {8, 9});
                                   to.integers(0) = {5, 6};
                                   to.integers(1).insert(to.integers(1).end(), {2, 2});
                                   to.integers(2).push_back(2);
                                   to.end_sequence();
                                 }),
                                 5);
  ASSERT_EQ(set.size(), 5u);
  EXPECT_EQ(set.sequence_count(), 6u);
  EXPECT_EQ(set.sequences(3).first, 3u);
  EXPECT_EQ(set.sequences(3).count, 2u);
  EXPECT_EQ(set.sequences(4).first, 5u);
  EXPECT_TRUE(std::ranges::equal(set.ids(4), Values{8, 9}));
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column("words"), 4), Values{5, 6}));
  EXPECT_TRUE(std::ranges::equal(set.integers(set.column("length"), 4), Values{2}));
}

TEST(Encode, LeavesOutATruthThatNoRecordHas) {
  EXPECT_FALSE(encoded(ColumnTask({}, false), 5).has_column(targets_column));
  EXPECT_TRUE(encoded(ColumnTask(), 5).has_column(targets_column));
  const ColumnTask once([](EncodedExample& to) { to.integers(1).clear(); });
  EXPECT_EQ(testing::message_of<Error>([&] { encoded(once, 5); }),
            "column \"targets\" of the encoded set does not fit its rows");
}

TEST(Encode, RefusesIdsThatTheVocabularyDoesNotHave) {
  const auto refusal = [](std::size_t tokens) {
    return testing::message_of<Error>(
        [&] { encode_records(ColumnTask(), records_of(2), NoTokenizer(tokens), 7); });
  };
  EXPECT_EQ(refusal(101), "the task gives the id 101 for record 2, and the vocabulary has 101 tokens");
  EXPECT_NO_THROW(encode_records(ColumnTask(), records_of(2), NoTokenizer(102), 7));
}

TEST(ExampleSet, RefusesArraysThatDoNotAddUp) {
  const Values two = {2}, one = {1}, negative = {-1}, ids = {2, 3}, none;
  const auto made = [](const Values& lengths, const Values& all, const ColumnValues& column) {
    return ExampleSet({.lengths = lengths, .ids = all, .columns = {column}}, nullptr);
  };
  const auto refused = [&](const Values& lengths, const Values& all, const ColumnValues& column) {
    return testing::message_of<Error>([&] { made(lengths, all, column); });
  };
  const ColumnRule tokens = {.name = "a"}, ragged = {.name = "a", .space = Space::ragged},
                   sequences = {.name = "a", .space = Space::sequences}, wide = {.name = "a", .width = 2};
  const std::string message = "the arrays of the encoded set do not add up",
                    misfit = "column \"a\" of the encoded set does not fit its rows";
  EXPECT_NO_THROW(made(two, ids, {.rule = ragged, .integers = ids, .counts = two}));
  EXPECT_EQ(refused(one, ids, {.rule = tokens, .integers = ids}), message);
  EXPECT_EQ(refused(negative, ids, {.rule = tokens, .integers = ids}), message);
  EXPECT_EQ(refused(two, ids, {.rule = ragged, .integers = ids, .counts = one}), message);
  EXPECT_EQ(refused(two, ids, {.rule = ragged, .integers = ids, .counts = none}), message);
  EXPECT_EQ(refused(two, ids, {.rule = tokens, .integers = one}), misfit);
  EXPECT_EQ(refused(two, ids, {.rule = wide, .integers = ids}), misfit);
  EXPECT_EQ(refused(two, ids, {.rule = sequences, .integers = ids}), misfit);
  EXPECT_EQ(testing::message_of<Error>(
                [&] { ExampleSet({.lengths = two, .ids = ids, .sequences = two}, nullptr); }),
            message);
}

TEST(ExampleSet, NamesAColumnItDoesNotHave) {
  const ExampleSet set = encoded(ColumnTask(), 1);
  EXPECT_EQ(testing::message_of<Error>([&] { set.column("spans"); }),
            "the encoded set has no column \"spans\"");
}

}  // namespace
}  // namespace encore::data
