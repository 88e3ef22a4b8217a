// SPDX-License-Identifier: BSD-3-Clause
// Tests TaskSets (tasks/task_sets.hpp), the encoded data sets of a run: sets from the token cache must equal,
// bit for bit, sets that are read and encoded; also data.more, data.split, max_length as a percentage, and
// the messages for data that a task refuses. token_cache_test.cpp tests the cache itself.
#include "tasks/task_sets.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "base/sha256.hpp"
#include "conll.hpp"
#include "ner.hpp"
#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::tasks {
namespace {

namespace fs = std::filesystem;

/// Makes one token of each letter.
class LetterTokenizer final : public Tokenizer {
 public:
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return {}; }
  std::optional<std::int32_t> find(Special role) const override { return static_cast<std::int32_t>(role); }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    return {tokens.begin(), tokens.end()};
  }

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>*) const override {
    for (const char letter : text) tokens.push_back(letter == '?' ? 1 : letter);
  }
};

TEST(RequireFields, NamesWhatTheReaderLeavesOut) {
  Records records;
  records.add("text", Records::Texts{"a"});
  records.add("number", Records::Numbers{1});
  const auto refusal = [&](const TaskFields& needs) {
    return testing::message_of<Error>([&] { require_fields(records, needs); });
  };
  EXPECT_NO_THROW(require_fields(records, {{"text"}, {"number"}, {"text2"}}));
  EXPECT_EQ(
      refusal({{"text"}, {"label"}}),
      "the task needs the field \"label\", and the reader gives \"text\", \"number\"; its options decide "
      "what it gives");
  EXPECT_EQ(refusal({{"text", "text2"}, {"label"}}),
            "the task needs the fields \"text2\", \"label\", and the reader gives \"text\", \"number\"; its "
            "options "
            "decide what it gives");
}

TEST(RequireFields, ShowsWhatToChangeInTheExperiment) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder / "train.tsv").string();
  std::ofstream(path) << "a film\t3\n";
  Records records;
  records.add("text", Records::Texts{"a film"});
  std::string tried;
  const FieldRemedy remedy = [&](std::span<const InputText> files, const std::vector<std::string>& fields) {
    for (const InputText& file : files) tried += file.name + "|" + std::string(file.text) + "|";
    for (const std::string& field : fields) tried += field + " ";
    return std::string("set data.label_type = \"number\"");
  };
  try {
    require_fields(records, {{"text"}, {"number"}}, {path}, remedy);
    FAIL() << "nothing was refused";
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "data.type");
    EXPECT_EQ(error.what(), path +
                                ": the task needs the field \"number\", and the reader gives \"text\"; set "
                                "data.label_type = \"number\"");
  }
  EXPECT_EQ(tried, path + "|a film\t3\n|text number ");
  EXPECT_NO_THROW(require_fields(records, {{"text"}, {}}, {path}, remedy));
}

class TaskSetsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_task_sets_" + std::to_string(::getpid()) + "_" +
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
  config::DataTable table() const {
    config::DataTable data;
    data.train = {file("train").string()};
    data.dev = {file("dev").string()};
    data.test = {file("test").string()};
    data.max_length = 14;
    return data;
  }
  ContentHashes hashes() const {
    ContentHashes result;
    for (const std::string split : {"train", "dev", "test"}) result[split] = sha256_of_file(file(split));
    return result;
  }
  static TaskSets sets_of(const config::DataTable& data, ContentHashes planned) {
    TaskParts parts;
    parts.make_task = [](std::int64_t max_length) {
      return std::make_unique<ner::Ner>(default_options<ner::Ner>(), TaskContext{max_length});
    };
    parts.task = parts.make_task(data.max_length == 0 ? longest_sequence : data.max_length);
    parts.reader =
        std::make_unique<conll::ConllReader>(default_options<conll::ConllReader>(), ReaderContext{});
    parts.fields = ner::Ner::fields();
    parts.measures = ner::Ner::measures();
    parts.identity = "ner from conll";
    return {std::move(parts), data, std::move(planned)};
  }
  TaskSets encoded() const {
    TaskSets sets = sets_of(table(), hashes());
    sets.encode(LetterTokenizer(), 2);
    return sets;
  }
  std::string predictions(const TaskSets& sets, data::Split split, const Outputs& outputs) const {
    sets.save_predictions(split, outputs, sets.measure(split, outputs), folder_ / "predictions.jsonl");
    std::ifstream in(folder_ / "predictions.jsonl");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Returns outputs that predict the second class for every row.
  static Outputs some_outputs(const TaskSets& sets, data::Split split) {
    const ExampleSet& set = sets.set(split).set;
    return outputs_of(set, sets.task().outputs().front(),
                      std::vector<std::int32_t>(set.rows(Space::tokens), 1));
  }
  static std::vector<std::pair<std::string, double>> scores(const TaskSets& sets, data::Split split) {
    return measure_values(sets.measures(), sets.measure(split, some_outputs(sets, split)));
  }
  void expect_equal(const TaskSets& a, const TaskSets& b) const {
    EXPECT_EQ(a.task().labels(), b.task().labels());
    EXPECT_EQ(a.task().knowledge(), b.task().knowledge());
    EXPECT_EQ(a.notes(), b.notes());
    for (const data::Split split : data::all_splits) {
      const ExampleSet &of_a = a.set(split).set, &of_b = b.set(split).set;
      EXPECT_TRUE(std::ranges::equal(of_a.arrays().lengths, of_b.arrays().lengths)) << data::name_of(split);
      EXPECT_TRUE(std::ranges::equal(of_a.arrays().ids, of_b.arrays().ids)) << data::name_of(split);
      ASSERT_EQ(of_a.columns().size(), of_b.columns().size());
      for (std::size_t i = 0; i < of_a.columns().size(); ++i) {
        const ColumnValues &x = of_a.columns()[i], &y = of_b.columns()[i];
        EXPECT_EQ(x.rule, y.rule);
        EXPECT_TRUE(std::ranges::equal(x.integers, y.integers)) << data::name_of(split) << x.rule.name;
        EXPECT_TRUE(std::ranges::equal(x.counts, y.counts)) << data::name_of(split) << x.rule.name;
      }
      EXPECT_EQ(a.describe(split).counts, b.describe(split).counts);
      EXPECT_EQ(scores(a, split), scores(b, split));
      EXPECT_EQ(predictions(a, split, some_outputs(a, split)), predictions(b, split, some_outputs(b, split)));
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

/// Gives records that no reader should give: words with something else than tags.
class CarelessReader final : public Reader {
 public:
  Records read(std::span<const InputText> files, const std::string& what) const override {
    Records records;
    records.add("words", Records::TextLists{{"Ann", "ate"}});
    if (what == "development set" && files[0].text.starts_with("short"))
      records.add("tags", Records::TextLists{{"O"}});
    else
      records.add("tags", Records::TextLists{{what == "training set" ? "B-PER" : "PER", "O"}});
    return records;
  }
};

TEST_F(TaskSetsTest, RecordsThatTheTaskRefusesAreReportedWithTheirFile) {
  const auto refusal = [&] {
    TaskParts parts;
    parts.task = std::make_unique<ner::Ner>(default_options<ner::Ner>(), TaskContext{14});
    parts.reader = std::make_unique<CarelessReader>();
    config::DataTable data = table();
    data.test.clear();
    TaskSets sets(std::move(parts), data, {});
    return message_of([&] { sets.encode(LetterTokenizer(), 1); });
  };
  EXPECT_EQ(refusal(),
            file("dev").string() + ": invalid tag \"PER\": expected O, or B- or I- before a type (IOB2)");
  write("dev", "short");
  EXPECT_EQ(refusal(), file("dev").string() + ": record 1: 2 words have 1 tag");
}

/// Gives ten sentences, each with one tag more than it has words.
class OneTagTooMany final : public Reader {
 public:
  Records read(std::span<const InputText>, const std::string&) const override {
    Records records;
    Records::TextLists words;
    for (int i = 0; i < 10; ++i) words.push_back({"w" + std::to_string(i)});
    records.add("words", std::move(words));
    records.add("tags", Records::TextLists(10, {"B-PER", "O"}));
    return records;
  }
};

TEST_F(TaskSetsTest, ARecordOfAShareIsNumberedInItsSet) {
  TaskParts parts;
  parts.task = std::make_unique<ner::Ner>(default_options<ner::Ner>(), TaskContext{14});
  parts.reader = std::make_unique<OneTagTooMany>();
  parts.fields = ner::Ner::fields();
  config::DataTable data = table();
  data.dev.clear();
  data.test.clear();
  data.split = {0.5, 0.5};
  TaskSets sets(std::move(parts), data, {});
  EXPECT_EQ(message_of([&] { sets.encode(LetterTokenizer(), 1); }),
            file("train").string() + ", training set: record 1: 1 word has 2 tags");
}

/// Gives sentences without tags.
class UntaggedReader final : public Reader {
 public:
  Records read(std::span<const InputText>, const std::string&) const override {
    Records records;
    records.add("words", Records::TextLists{{"Ann"}});
    return records;
  }
};

TEST_F(TaskSetsTest, AReaderThatLeavesOutAFieldIsReportedOnceForAllSets) {
  TaskParts parts;
  parts.task = std::make_unique<ner::Ner>(default_options<ner::Ner>(), TaskContext{14});
  parts.reader = std::make_unique<UntaggedReader>();
  parts.fields = ner::Ner::fields();
  TaskSets sets(std::move(parts), table(), {});
  EXPECT_EQ(
      message_of([&] { sets.read(); }),
      file("train").string() +
          ": the task needs the field \"tags\", and the reader gives \"words\"; its options decide what "
          "it gives");
}

TEST_F(TaskSetsTest, NotesBeginWithWhatWasCounted) {
  const Notes notes = encoded().notes();
  EXPECT_EQ(notes.front(),
            "train: 3 examples, 7 words, 3 entities, 1 cut sentences, 1 cut words, 1 cut entities");
  EXPECT_NE(std::ranges::find(notes, "dev: 2 examples, 3 words, 2 entities"), notes.end())
      << "nothing was cut";
}

TEST_F(TaskSetsTest, IsTheSameFromTheCache) {
  const TokenCache cache(folder_ / "tokens");
  TaskSets cold = encoded();
  cold.save_encoded(cache, "letters");
  TaskSets warm = sets_of(table(), hashes());
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  const std::vector<std::pair<std::string, std::int64_t>> counts = {
      {"words", 4},     {"entities", 2},     {"cut sentences", 1},
      {"cut words", 2}, {"cut entities", 1}, {"words with labels not in training", 2}};
  EXPECT_EQ(cold.describe(data::Split::test).counts, counts);
  const Notes notes = cold.notes();
  EXPECT_NE(std::ranges::find(
                notes,
                "test: the label \"ORG\" of 1 entity is not in the training set; it always counts as missed"),
            notes.end());
  expect_equal(cold, warm);
}

TEST_F(TaskSetsTest, ScoresFromTheCacheWithoutTheFiles) {
  const TokenCache cache(folder_ / "tokens");
  TaskSets cold = encoded();
  cold.save_encoded(cache, "letters");
  const ContentHashes planned = hashes();
  for (const std::string split : {"train", "dev", "test"}) fs::remove(file(split));
  TaskSets warm = sets_of(table(), planned);
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  EXPECT_EQ(scores(warm, data::Split::dev), scores(cold, data::Split::dev));
  // Only the file has the words.
  EXPECT_NE(message_of([&] {
              predictions(warm, data::Split::dev, some_outputs(warm, data::Split::dev));
            }).find("cannot read the development set " + file("dev").string()),
            std::string::npos);
}

TEST_F(TaskSetsTest, TheCacheMissesIfAnythingWouldChangeTheExamples) {
  const TokenCache cache(folder_ / "tokens");
  encoded().save_encoded(cache, "letters");
  const auto found = [&](const config::DataTable& data, const ContentHashes& files,
                         const std::string& encoding) {
    return sets_of(data, files).load_encoded(cache, encoding);
  };
  EXPECT_TRUE(found(table(), hashes(), "letters"));
  EXPECT_FALSE(found(table(), hashes(), "letters in lower case"));
  config::DataTable longer = table();
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

TEST_F(TaskSetsTest, WritesFilesOfAnotherFormAgain) {
  const TokenCache cache(folder_ / "tokens");
  TaskSets task = encoded();
  task.save_encoded(cache, "letters");
  const fs::path path = fs::directory_iterator(folder_ / "tokens")->path();
  const std::string key = record::Safetensors(path).text("key");
  Notes notes;
  cache.save(key, {}, {{"knowledge", "O\n"}, {"train", "[]"}}, notes);
  TaskSets other = sets_of(table(), hashes());
  EXPECT_FALSE(other.load_encoded(cache, "letters"));
  other.encode(LetterTokenizer(), 1);
  EXPECT_NE(other.notes().at(0).find("encoding again, because a file of the token cache is unusable: " +
                                     path.string()),
            std::string::npos)
      << other.notes().at(0);
  other.save_encoded(cache, "letters");
  TaskSets mended = sets_of(table(), hashes());
  ASSERT_TRUE(mended.load_encoded(cache, "letters"));
  expect_equal(task, mended);
}

TEST_F(TaskSetsTest, RefusesAFileThatIsNotThePlannedOne) {
  const ContentHashes planned = hashes();
  write("dev", "Bob B-PER\n");
  TaskSets task = sets_of(table(), planned);
  const std::string expected = file("dev").string() + " (dev) has changed since the run was planned";
  EXPECT_NE(message_of([&] { task.encode(LetterTokenizer(), 1); }).find(expected), std::string::npos);
  EXPECT_NE(message_of([&] { task.read(); }).find(expected), std::string::npos);
}

TEST_F(TaskSetsTest, WritesPredictionsWithTheirStatistics) {
  const TaskSets sets = encoded();
  const std::string lines = predictions(sets, data::Split::dev, some_outputs(sets, data::Split::dev));
  EXPECT_EQ(
      lines.substr(0, lines.find('\n')),
      R"({"example":0,"predicted":["B-LOC","B-LOC"],"statistics":{"confusion":{"O":{"LOC":1},"PER":{"LOC":1}},)"
      R"("correct":{"LOC":0,"PER":0},"correct_words":0,"predicted":{"LOC":2,"PER":0},)"
      R"("truth":{"LOC":0,"PER":1},"words":2},"truth":["B-PER","O"],"words":["Bob","?"]})");
}

TEST_F(TaskSetsTest, LeavesScoredExamplesOutOfTheNewExamples) {
  write("more", "Cy B-PER\n\nOslo B-LOC\n\nDi B-PER\nran O\n");
  config::DataTable data = table();
  data.more = {file("more").string()};
  TaskSets sets = sets_of(data, hashes());
  sets.encode(LetterTokenizer(), 2);
  EXPECT_EQ(sets.set(data::Split::train).set.size(), 5u) << "Oslo is in the development set";
  EXPECT_EQ(sets.set(data::Split::dev).set.size(), 2u);
  const Notes notes = sets.notes();
  EXPECT_NE(std::ranges::find(notes,
                              "train: data.more: 3 examples, 2 of them learned from, 1 left out, which the "
                              "development or test set has"),
            notes.end());

  write("more", "Cy B-PERS\n\nOslo B-LOC\n\nDi B-PER\nran O\n");
  ContentHashes planned = hashes();
  planned["more"] = std::string(64, '0');
  TaskSets changed = sets_of(data, planned);
  EXPECT_NE(message_of([&] { changed.read(); }).find("more.conll (more) has changed since"),
            std::string::npos);
  write("more", "Cy\n");
  TaskSets broken = sets_of(data, {});
  EXPECT_NE(message_of([&] { broken.read(); }).find(file("more").string() + ":1"), std::string::npos);
  write("more", "Oslo B-LOC\n");
  TaskSets none = sets_of(data, {});
  EXPECT_EQ(message_of([&] { none.read(); }),
            file("more").string() +
                ": nothing is left to learn from: data.more: 1 examples, 0 of them learned from, 1 "
                "left out, which the development or test set has");
}

/// The share data.held_out belongs to the key of the cache.
TEST_F(TaskSetsTest, LoadsEqualNewExamplesFromTheCacheUnlessTheirShareDiffers) {
  write("more", "Cy B-PER\n\nBo B-PER\n\nDi B-PER\nran O\n\nEd B-PER\n\nFay B-PER\n\nGus B-PER\n");
  config::DataTable data = table();
  data.more = {file("more").string()};
  data.held_out = 0.5;
  ContentHashes planned = hashes();
  planned["more"] = sha256_of_file(file("more"));
  const TokenCache cache(folder_ / "tokens");
  TaskSets cold = sets_of(data, planned);
  cold.encode(LetterTokenizer(), 2);
  cold.save_encoded(cache, "letters");
  EXPECT_LT(cold.set(data::Split::train).set.size(), 9u);
  EXPECT_GT(cold.set(data::Split::train).set.size(), 3u);
  TaskSets warm = sets_of(data, planned);
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  expect_equal(cold, warm);
  data.held_out = 0.4;
  TaskSets other = sets_of(data, planned);
  EXPECT_FALSE(other.load_encoded(cache, "letters"));
}

TEST_F(TaskSetsTest, NamesTheSetThatHasNothingToLearn) {
  write("train", "a O\n");
  TaskSets sets = sets_of(table(), {});
  EXPECT_EQ(
      message_of([&] { sets.read(); }),
      file("train").string() +
          ": no word of the training set belongs to an entity (every tag is O); there is nothing to learn");
}

TEST_F(TaskSetsTest, CountsWordsWithoutReadingTheOtherSets) {
  fs::remove(file("dev"));
  TaskSets task = sets_of(table(), {});
  EXPECT_EQ(task.text_counts().at("Ann"), 1);
  EXPECT_NE(message_of([&] { task.read(); }).find("development set"), std::string::npos);
}

TEST_F(TaskSetsTest, ASetOfSeveralFilesHasTheirRecordsInOrder) {
  config::DataTable parts = table();
  write("more", "Zoe B-PER\n");
  write("train", "Ann B-PER\nate O\n\nin O\nNew B-LOC\nYork I-LOC\n");
  parts.train.push_back(file("more").string());
  TaskSets sets = sets_of(parts, {});
  sets.encode(LetterTokenizer(), 1);
  EXPECT_EQ(sets.set(data::Split::train).set.size(), 3U);
  ContentHashes planned = hashes();
  planned["train.2"] = sha256("another file");
  const std::string refusal = message_of([&] { sets_of(parts, planned).read(); });
  EXPECT_NE(refusal.find(file("more").string() + " (train) has changed since the run was planned"),
            std::string::npos)
      << refusal;
}

TEST_F(TaskSetsTest, SplitCutsOneFileIntoSets) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "w" + std::to_string(i) + " B-PER\n\n";
  write("train", text);
  config::DataTable data = table();
  data.dev.clear();
  data.test.clear();
  data.split = {0.8, 0.1, 0.1};
  const ContentHashes planned = {{"train", sha256_of_file(file("train"))}};
  const TokenCache cache(folder_ / "tokens");
  TaskSets cold = sets_of(data, planned), warm = sets_of(data, planned);
  cold.encode(LetterTokenizer(), 1, cache, "letters");
  std::size_t all = 0;
  for (const data::Split split : data::all_splits) {
    EXPECT_TRUE(cold.has(split));
    all += cold.set(split).set.size();
  }
  EXPECT_EQ(all, 200U);
  EXPECT_NEAR(static_cast<double>(cold.set(data::Split::train).set.size()), 160.0, 20.0);
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  expect_equal(cold, warm);
  TaskSets others = sets_of(data, planned);
  data.split = {0.9, 0.1};
  EXPECT_FALSE(sets_of(data, planned).load_encoded(cache, "letters")) << "other shares give other sets";
  EXPECT_FALSE(sets_of(data, planned).has(data::Split::test));
  write("train", "Ann B-PER\n");
  EXPECT_TRUE(message_of([&] {
                sets_of(data, {}).read();
              }).starts_with(file("train").string() + ": data.split leaves a set without examples: "))
      << message_of([&] { sets_of(data, {}).read(); });
}

TEST_F(TaskSetsTest, SplitBesideATestFileCutsTheDevelopmentSetOnly) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "w" + std::to_string(i) + " B-PER\n\n";
  write("train", text);
  config::DataTable data = table();
  data.dev.clear();
  data.split = {0.8, 0.2};
  const ContentHashes planned = {{"train", sha256_of_file(file("train"))},
                                 {"test", sha256_of_file(file("test"))}};
  TaskSets sets = sets_of(data, planned), whole = sets_of(table(), {});
  sets.encode(LetterTokenizer(), 1, TokenCache(folder_ / "tokens"), "letters");
  whole.encode(LetterTokenizer(), 1, TokenCache(folder_ / "tokens"), "letters");
  EXPECT_EQ(sets.set(data::Split::train).set.size() + sets.set(data::Split::dev).set.size(), 100U);
  EXPECT_GT(sets.set(data::Split::dev).set.size(), 5U);
  EXPECT_TRUE(std::ranges::equal(sets.set(data::Split::test).set.arrays().ids,
                                 whole.set(data::Split::test).set.arrays().ids));
  write("test", "Bea B-PER\n");
  EXPECT_NE(message_of([&] { sets_of(data, planned).read(); }).find("has changed since the run was planned"),
            std::string::npos);
}

TEST_F(TaskSetsTest, SplitByLabelNeedsOneLabelForEachExample) {
  config::DataTable data = table();
  data.dev.clear();
  data.split = {0.8, 0.2};
  data.stratify = true;
  EXPECT_NE(message_of([&] {
              sets_of(data, {}).read();
            }).find("data.stratify needs a task with one label for each example; this one reads the fields"),
            std::string::npos)
      << message_of([&] { sets_of(data, {}).read(); });
}

TEST_F(TaskSetsTest, ChoosesTheLengthThatFitsAPercentageOfTheSequences) {
  std::string text;  // 20 sequences of 3 to 22 tokens: n letters and 2 markers, n = 1 .. 20
  for (int i = 1; i <= 20; ++i) text += std::string(static_cast<std::size_t>(i), 'a') + " B-PER\n\n";
  write("train", text);
  config::DataTable data = table();
  data.max_length = 0;
  data.max_length_percent = 50;
  const TokenCache cache(folder_ / "tokens");
  TaskSets cold = sets_of(data, hashes()), warm = sets_of(data, hashes());
  EXPECT_EQ(cold.max_length(), 0);
  cold.encode(LetterTokenizer(), 2, cache, "letters");
  EXPECT_EQ(cold.max_length(), 12);
  const Notes notes = cold.notes();
  EXPECT_NE(std::ranges::find(notes,
                              "data.max_length = \"50%\" is 12: the smallest length that fits this share of "
                              "the training sequences"),
            notes.end());
  ASSERT_TRUE(warm.load_encoded(cache, "letters"));
  EXPECT_EQ(warm.max_length(), 12);
  expect_equal(cold, warm);
  data.max_length = 12;
  data.max_length_percent = 0;
  TaskSets given = sets_of(data, hashes());
  given.encode(LetterTokenizer(), 1);
  EXPECT_TRUE(std::ranges::equal(given.set(data::Split::train).set.arrays().ids,
                                 cold.set(data::Split::train).set.arrays().ids));
}

TEST(ReadSet, RefusesFilesItCannotRead) {
  const testing::TemporaryFolder folder;
  const auto refusal_of = [&](const std::string& name) {
    return message_of([&] {
      read_set(conll::ConllReader(default_options<conll::ConllReader>(), {}), {(folder / name).string()},
               "test set");
    });
  };
  EXPECT_EQ(refusal_of("none.conll"),
            "cannot read the test set " + (folder / "none.conll").string() +
                ": there is no such file; check the path and the folder it is relative to");
  EXPECT_EQ(refusal_of("."),
            "cannot read the test set " + (folder / ".").string() + ": it is a folder; name a file");
  ASSERT_EQ(::mkfifo((folder / "pipe.conll").c_str(), 0600), 0);
  EXPECT_EQ(refusal_of("pipe.conll"),
            "cannot read the test set " + (folder / "pipe.conll").string() +
                ": it is a pipe, which may never end; write what comes through it to a file, and name that");
  EXPECT_EQ(message_of([] {
              read_set(conll::ConllReader(default_options<conll::ConllReader>(), {}), {"/dev/zero"},
                       "test set");
            }),
            "cannot read the test set /dev/zero: it is a device, which may never end; name a file");
  EXPECT_EQ(message_of([] { sha256_of_file("/dev/zero"); }),
            "cannot read /dev/zero: it is a device, which may never end; name a file");
  testing::write_bytes(folder / "latin.conll", "Ann\tO\nJos\xE9\tB-PER\n");
  EXPECT_EQ(refusal_of("latin.conll"),
            (folder / "latin.conll").string() +
                ":2: the test set is not UTF-8; find its encoding and convert it, for "
                "example with iconv -f LATIN1 -t UTF-8");
  testing::write_bytes(folder / "wide.conll", std::string("\xFF\xFE"
                                                          "A\0\t\0O\0\n\0",
                                                          10));
  EXPECT_EQ(refusal_of("wide.conll"),
            (folder / "wide.conll").string() +
                ":1: the test set is not UTF-8 but looks like UTF-16; convert it, for "
                "example with iconv -f UTF-16 -t UTF-8");
  testing::write_bytes(folder / "packed.conll", "\x1F\x8B\x08 and so on");
  EXPECT_EQ(refusal_of("packed.conll"),
            (folder / "packed.conll").string() +
                ": the test set is packed by gzip; unpack it, for example with gunzip");
}

}  // namespace
}  // namespace encore::tasks
