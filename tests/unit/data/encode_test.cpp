// Records to sets: the same on any number of threads, and what a task must not give.
#include "data/encode.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/batches.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

using Values = std::vector<std::int32_t>;

/// Ids, and beside them a column of each kind; `break_record` gives one record something that does not fit.
class ColumnTask final : public Task {
 public:
  explicit ColumnTask(std::function<void(EncodedExample&)> break_record = {})
      : break_(std::move(break_record)) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return ""; }
  void restore(std::string_view) override {}
  /// Targets are lengths, at most 7.
  std::vector<std::string> labels() const override { return std::vector<std::string>(8, "a"); }
  WordCounts word_counts(const Records&) const override { return {}; }
  std::vector<ColumnRule> columns() const override {
    return {{"picked", Space::ragged}, {targets_column, Space::tokens}, {"length", Space::sequences}};
  }
  void encode(const Records& records, std::size_t record, const Tokenizer&,
              EncodedExample& to) const override {
    const auto length = static_cast<std::int32_t>(records.numbers("length")[record]);
    for (std::int32_t i = 0; i < length; ++i) to.ids.push_back(static_cast<std::int32_t>(record) * 100 + i);
    for (std::int32_t i = 1; i < length; i += 2) to.columns[0].push_back(i);
    to.columns[1].assign(to.ids.size(), length);
    to.columns[2] = {length};
    if (record == 3 && break_) break_(to);
  }
  SetDescription describe(const ExampleSet&) const override { return {}; }
  void measure(const ExampleSet&, const Outputs&, Statistics&) const override {}
  Records label(const Records&, const ExampleSet&, const Outputs&) const override { return {}; }

 private:
  std::function<void(EncodedExample&)> break_;
};

class NoTokenizer final : public Tokenizer {
 public:
  explicit NoTokenizer(std::size_t pieces = 0) : pieces_(pieces) {}
  void load(std::vector<std::string>) override {}
  void train(const std::map<std::string, std::int64_t>&) override {}
  std::span<const std::string> vocabulary() const override { return pieces_; }
  SpecialPieces special() const override { return {}; }
  void encode(std::string_view, std::vector<std::int32_t>&) const override {}

 private:
  std::vector<std::string> pieces_;
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
  EXPECT_TRUE(std::ranges::equal(set.values(set.column("picked"), 3), Values{1, 3}));
  EXPECT_TRUE(std::ranges::equal(set.values(set.column("picked"), 7), Values{}));
  EXPECT_TRUE(std::ranges::equal(set.values(set.column("length"), 8), Values{2}));
  EXPECT_EQ(set.first_row(2), 3u);
  const std::vector<Example> examples = examples_of(set);
  EXPECT_TRUE(std::ranges::equal(examples.at(1).ids, Values{100, 101}));
  EXPECT_TRUE(std::ranges::equal(examples.at(1).targets, Values{2, 2}));
}

TEST(Encode, IsTheSameOnAnyNumberOfThreads) {
  const ExampleSet one = encoded(ColumnTask(), 5000);
  for (const int threads : {2, 7}) {
    const ExampleSet many = encoded(ColumnTask(), 5000, threads);
    EXPECT_TRUE(std::ranges::equal(one.lengths(), many.lengths()));
    EXPECT_TRUE(std::ranges::equal(one.all_ids(), many.all_ids()));
    for (std::size_t i = 0; i < one.columns().size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(one.columns()[i].values, many.columns()[i].values)) << i;
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
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[1].pop_back(); }),
            "the task gives 3 values of column \"targets\" for record 4, which needs 4");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[2].clear(); }),
            "the task gives 0 values of column \"length\" for record 4, which needs 1");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns.pop_back(); }),
            "the task gives 2 columns for record 4 and declares 3");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[1][2] = 8; }),
            "the task gives the target 8 for record 4, and has 8 classes");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[1][2] = -2; }),
            "the task gives the target -2 for record 4, and has 8 classes");
  EXPECT_NO_THROW(encoded(ColumnTask([](EncodedExample& to) { to.columns[1][2] = no_target; }), 9));
}

TEST(Encode, RefusesIdsThatTheVocabularyDoesNotHave) {
  const auto refusal = [](std::size_t pieces) {
    return testing::message_of<Error>(
        [&] { encode_records(ColumnTask(), records_of(2), NoTokenizer(pieces), 7); });
  };
  EXPECT_EQ(refusal(101), "the task gives the id 101 for record 2, and the vocabulary has 101 pieces");
  EXPECT_NO_THROW(encode_records(ColumnTask(), records_of(2), NoTokenizer(102), 7));
}

TEST(ExampleSet, RefusesArraysThatDoNotAddUp) {
  const Values two = {2}, one = {1}, negative = {-1}, ids = {2, 3}, none;
  const auto refused = [](const Values& lengths, const Values& all, ColumnValues column) {
    return testing::message_of<Error>([&] { ExampleSet(lengths, all, {column}, nullptr); });
  };
  const std::string message = "the arrays of the encoded set do not add up";
  EXPECT_NO_THROW(ExampleSet(two, ids, {{{"a", Space::ragged}, ids, two}}, nullptr));
  EXPECT_EQ(refused(one, ids, {{"a"}, ids}), message);
  EXPECT_EQ(refused(negative, ids, {{"a"}, ids}), message);
  EXPECT_EQ(refused(two, ids, {{"a", Space::ragged}, ids, one}), message);
  EXPECT_EQ(refused(two, ids, {{"a", Space::ragged}, ids, none}), message);
  EXPECT_EQ(refused(two, ids, {{"a"}, one}), "column \"a\" of the encoded set does not fit its rows");
  EXPECT_EQ(refused(two, ids, {{"a", Space::sequences}, ids}),
            "column \"a\" of the encoded set does not fit its rows");
}

TEST(ExampleSet, NamesAColumnItDoesNotHave) {
  const ExampleSet set = encoded(ColumnTask(), 1);
  EXPECT_EQ(testing::message_of<Error>([&] { set.column("spans"); }),
            "the encoded set has no column \"spans\"");
}

}  // namespace
}  // namespace encore
