// A task whose examples come from the token cache is, bit for bit, the task that read and encoded its files.
#include "tasks/ner.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "data/hash.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<std::int32_t>;

/// One piece a letter.
class LetterTokenizer final : public Tokenizer {
 public:
  void load(std::vector<std::string>) override {}
  void train(const std::map<std::string, std::int64_t>&) override {}
  std::span<const std::string> vocabulary() const override { return {}; }
  SpecialPieces special() const override { return {0, 1, 2, 3}; }
  void encode(std::string_view text, std::vector<std::int32_t>& pieces) const override {
    for (const char letter : text) pieces.push_back(letter == '?' ? 1 : letter);
  }
};

class NerTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_ner_task_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    write("train", "Ann B-PER\nate O\n\nin O\nNew B-LOC\nYork I-LOC\n\nabcdefghijk O\nZoe B-PER\n");
    write("dev", "Bob I-PER\n? O\n\nOslo B-LOC\n");
    write("test", "Acme B-ORG\nInc I-ORG\nabcdefghijk O\nAnn B-PER\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& split) const { return folder_ / (split + ".conll"); }
  void write(const std::string& split, const std::string& text) const {
    std::ofstream(file(split), std::ios::binary) << text;
  }
  DataTable table() const {
    DataTable data;
    data.train = file("train").string();
    data.dev = file("dev").string();
    data.test = file("test").string();
    data.max_length = 14;
    return data;
  }
  ContentHashes hashes() const {
    ContentHashes result;
    for (const std::string split : {"train", "dev", "test"}) result[split] = sha256_of_file(file(split));
    return result;
  }
  NerTask encoded() const {
    NerTask task(table(), hashes());
    task.encode(LetterTokenizer(), 2);
    return task;
  }
  std::string predictions(const NerTask& task, Split split, const Predictions& classes) const {
    task.save_predictions(split, classes, folder_ / "predictions.jsonl");
    std::ifstream in(folder_ / "predictions.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The second class for every word that was kept.
  static Predictions some_predictions(const NerTask& task, Split split) {
    Predictions classes;
    for (const Example& example : task.set(split).examples)
      classes.emplace_back(example.first_pieces.size(), 1);
    return classes;
  }
  void expect_equal(const NerTask& a, const NerTask& b) const {
    EXPECT_EQ(a.labels(), b.labels());
    EXPECT_EQ(a.notes(), b.notes());
    for (const Split split : {Split::train, Split::dev, Split::test}) {
      const EncodedSet &of_a = a.set(split), &of_b = b.set(split);
      ASSERT_EQ(of_a.examples.size(), of_b.examples.size());
      for (std::size_t i = 0; i < of_a.examples.size(); ++i) {
        const Example &x = of_a.examples[i], &y = of_b.examples[i];
        EXPECT_TRUE(std::ranges::equal(x.ids, y.ids)) << name_of(split) << i;
        EXPECT_TRUE(std::ranges::equal(x.targets, y.targets)) << name_of(split) << i;
        EXPECT_TRUE(std::ranges::equal(x.first_pieces, y.first_pieces)) << name_of(split) << i;
        EXPECT_EQ(x.cut_words, y.cut_words) << name_of(split) << i;
      }
      EXPECT_EQ(of_a.report.unknown_pieces, of_b.report.unknown_pieces);
      EXPECT_EQ(of_a.report.rows, of_b.report.rows);
      EXPECT_EQ(of_a.report.longest, of_b.report.longest);
      EXPECT_EQ(of_a.report.pieces, of_b.report.pieces);
      const Predictions classes = some_predictions(a, split);
      const std::vector<Measure> scores = a.score(split, classes), same = b.score(split, classes);
      ASSERT_EQ(scores.size(), same.size());
      for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_EQ(scores[i].name, same[i].name);
        EXPECT_EQ(scores[i].value, same[i].value) << scores[i].name;
      }
      EXPECT_EQ(predictions(a, split, classes), predictions(b, split, classes));
    }
  }

  fs::path folder_;
};

std::string message_of(const std::function<void()>& act) {
  try {
    act();
    return "nothing was refused";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_F(NerTaskTest, IsTheSameFromTheCache) {
  const TokenCache cache(folder_ / "tokens");
  NerTask cold = encoded();
  cold.save_encoded(cache, "letters");
  NerTask warm(table(), hashes());
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  EXPECT_EQ(cold.set(Split::test).report.cut_words, 2);
  EXPECT_EQ(cold.set(Split::test).report.unseen_entities.at("ORG"), 1);
  expect_equal(cold, warm);
}

TEST_F(NerTaskTest, ScoresFromTheCacheWithoutTheFiles) {
  const TokenCache cache(folder_ / "tokens");
  NerTask cold = encoded();
  cold.save_encoded(cache, "letters");
  const ContentHashes planned = hashes();
  for (const std::string split : {"train", "dev", "test"}) fs::remove(file(split));
  NerTask warm(table(), planned);
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  const Predictions classes = some_predictions(warm, Split::dev);
  EXPECT_EQ(warm.score(Split::dev, classes).at(0).value, cold.score(Split::dev, classes).at(0).value);
  // The words stand in the file only.
  EXPECT_NE(message_of([&] {
              predictions(warm, Split::dev, classes);
            }).find("cannot read the development set " + file("dev").string()),
            std::string::npos);
}

TEST_F(NerTaskTest, MissesWhateverWouldGiveOtherExamples) {
  const TokenCache cache(folder_ / "tokens");
  encoded().save_encoded(cache, "letters");
  const auto found = [&](const DataTable& data, const ContentHashes& files, const std::string& encoding) {
    return NerTask(data, files).load_encoded(cache, encoding);
  };
  EXPECT_TRUE(found(table(), hashes(), "letters"));
  EXPECT_FALSE(found(table(), hashes(), "letters in lower case"));
  DataTable longer = table();
  longer.max_length = 15;
  EXPECT_FALSE(found(longer, hashes(), "letters"));
  EXPECT_FALSE(found(table(), {}, "letters"));
  ContentHashes with_vocabulary = hashes();
  with_vocabulary["vocab"] = "0123";
  EXPECT_FALSE(found(table(), with_vocabulary, "letters"));
  for (const std::string split : {"train", "dev", "test"}) {
    ContentHashes other = hashes();
    other[split] = sha256("another file");
    EXPECT_FALSE(found(table(), other, "letters")) << split;
  }
}

TEST_F(NerTaskTest, MakesAnewWhatHasAnotherForm) {
  const TokenCache cache(folder_ / "tokens");
  NerTask task = encoded();
  task.save_encoded(cache, "letters");
  const fs::path path = fs::directory_iterator(folder_ / "tokens")->path();
  const std::string key = Safetensors(path).text("key");
  Notes notes;
  cache.save(key, {}, {{"labels", "[\"O\"]"}, {"tags", "[]"}, {"train", "{}"}}, notes);
  NerTask other(table(), hashes());
  EXPECT_FALSE(other.load_encoded(cache, "letters"));
  other.encode(LetterTokenizer(), 1);
  EXPECT_NE(other.notes().at(0).find("a file of the token cache is made anew: " + path.string()),
            std::string::npos)
      << other.notes().at(0);
  other.save_encoded(cache, "letters");
  NerTask mended(table(), hashes());
  ASSERT_TRUE(mended.load_encoded(cache, "letters"));
  expect_equal(task, mended);
}

TEST_F(NerTaskTest, RefusesAFileThatIsNotThePlannedOne) {
  const ContentHashes planned = hashes();
  write("dev", "Bob B-PER\n");
  NerTask task(table(), planned);
  const std::string expected = file("dev").string() + " (dev) has changed since the run was planned";
  EXPECT_NE(message_of([&] { task.encode(LetterTokenizer(), 1); }).find(expected), std::string::npos);
  EXPECT_NE(message_of([&] { task.read(); }).find(expected), std::string::npos);
}

TEST_F(NerTaskTest, CountsWordsWithoutReadingTheOtherSets) {
  fs::remove(file("dev"));
  NerTask task(table(), {});
  EXPECT_EQ(task.word_counts().at("Ann"), 1);
  EXPECT_NE(message_of([&] { task.read(); }).find("development set"), std::string::npos);
}

}  // namespace
}  // namespace encore
