// SPDX-License-Identifier: BSD-3-Clause
// Tests training sets that are never in memory as a whole (FileParts, tasks/file_parts.hpp, through TaskSets,
// tasks/task_sets.hpp): the files are read in parts. With less memory the parts must give, bit for bit, the
// data sets that whole files give. Files of data.more are added to the training set.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/sha256.hpp"
#include "jsonl.hpp"
#include "mlm/mlm.hpp"
#include "row_problems.hpp"
#include "tasks/file_parts.hpp"
#include "tasks/task_sets.hpp"
#include "text_file.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::tasks {
namespace {

namespace fs = std::filesystem;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_bytes;

/// Gives each word one token, whose number is from a hash of the word. Refuses a text that contains
/// `refused`.
class WordHashTokenizer final : public Tokenizer {
 public:
  explicit WordHashTokenizer(std::string refused = {}) : refused_(std::move(refused)) {}
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return vocabulary_; }
  std::optional<std::int32_t> find(Special role) const override { return static_cast<std::int32_t>(role); }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>*) const override {
    if (!refused_.empty() && text.find(refused_) != std::string_view::npos) throw Error("refused");
    std::uint32_t hash = 0;
    for (const char letter : text) {
      if (letter == ' ') tokens.push_back(static_cast<std::int32_t>(10 + hash % 990));
      hash = letter == ' ' ? 0 : hash * 31 + static_cast<unsigned char>(letter);
    }
    tokens.push_back(static_cast<std::int32_t>(10 + hash % 990));
  }
  std::string refused_;
  std::vector<std::string> vocabulary_ = std::vector<std::string>(1000, "piece");
};

std::string text_of_lines(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i)
    text += "line " + std::to_string(i) + " says " + std::to_string(i * 7 % 1000) + " and some words more\n" +
            (i % 10 == 9 ? "\n" : "");
  return text;
}

std::vector<FileParts::Part> all_parts(FileParts& parts) {
  std::vector<FileParts::Part> all;
  while (std::optional<FileParts::Part> part = parts.next()) all.push_back(std::move(*part));
  return all;
}

TEST(FileParts, AreTheFilesCutAtLineEnds) {
  const TemporaryFolder folder;
  const std::string one = text_of_lines(50), two = "no line end at the end";
  write_bytes(folder / "one", one);
  write_bytes(folder / "empty", "");
  write_bytes(folder / "two", two);
  const std::vector<std::string> paths = {(folder / "one").string(), (folder / "empty").string(),
                                          (folder / "two").string()};
  for (const std::size_t bytes : {1UL, 7UL, 64UL, 1000UL, 100000UL}) {
    FileParts parts(paths, Cut::lines, bytes, "training set");
    std::string joined;
    std::int64_t line = 1;
    for (const FileParts::Part& part : all_parts(parts)) {
      if (part.file == 2) {
        EXPECT_EQ(part.text, two);
        EXPECT_EQ(part.first_line, 1);
        continue;
      }
      // Parts without text are left out, but their lines are counted.
      EXPECT_GE(part.first_line, line) << bytes;
      EXPECT_TRUE(part.text.ends_with('\n'));
      line = part.first_line + std::ranges::count(part.text, '\n');
      EXPECT_EQ(part.last_line, line - 1);
      joined += part.text;
    }
    std::string expected = one;
    if (bytes < 50) std::erase_if(joined, [](char c) { return c == '\n'; });
    if (bytes < 50) std::erase_if(expected, [](char c) { return c == '\n'; });
    EXPECT_EQ(joined, expected) << bytes;
    EXPECT_EQ(parts.hashes(), (std::vector<std::string>{sha256(one), sha256(""), sha256(two)}));
  }
}

TEST(FileParts, AreCutAfterBlankLinesIfAReaderJoinsLines) {
  const TemporaryFolder folder;
  const std::string text = text_of_lines(50);
  write_bytes(folder / "text", text);
  FileParts parts({(folder / "text").string()}, Cut::blank_lines, 100, "training set");
  const std::vector<FileParts::Part> all = all_parts(parts);
  EXPECT_EQ(all.size(), 5U);
  for (const FileParts::Part& part : all) EXPECT_TRUE(part.text.ends_with("\n\n")) << part.text;
}

TEST(FileParts, NameTheLineOfALaterPart) {
  const TemporaryFolder folder;
  write_bytes(folder / "text", text_of_lines(50) + "caf\xE9\n");
  FileParts parts({(folder / "text").string()}, Cut::lines, 100, "training set");
  EXPECT_EQ(message_of<Error>([&] { all_parts(parts); }),
            (folder / "text").string() +
                ":56: the training set is not UTF-8; find its encoding and convert it, "
                "for example with iconv -f LATIN1 -t UTF-8");
  FileParts none({(folder / "none").string()}, Cut::lines, 100, "training set");
  EXPECT_TRUE(message_of<Error>([&] {
                none.next();
              }).starts_with("cannot read the training set " + (folder / "none").string()));
}

TEST(FileParts, OfJsonLinesNameTheLineToo) {
  const TemporaryFolder folder;
  Options options = default_options<jsonl::JsonlReader>();
  options.set("label_key", std::string());
  const jsonl::JsonlReader reader(options, {});
  EXPECT_EQ(reader.cut(), Cut::lines);
  const std::string part = "{\"text\": \"a\"}\nno\n";
  const InputText input = {.name = "train.jsonl", .text = part, .first_line = 100};
  EXPECT_EQ(message_of<Error>([&] {
              reader.read({&input, 1}, "training set");
            }),
            "train.jsonl:101: this line is not valid JSON: byte 2 cannot be read" +
                std::string(encore::skip_remedy));
  options.set("bad_rows", std::string("skip"));
  EXPECT_EQ(jsonl::JsonlReader(options, {}).cut(), Cut::nowhere) << "a part may be empty otherwise";
}

class CorpusTest : public ::testing::Test {
 protected:
  void write(int lines) const {
    write_bytes(folder_ / "train", text_of_lines(lines));
    write_bytes(folder_ / "dev", text_of_lines(5));
  }
  config::DataTable table() const {
    config::DataTable data;
    data.train = {(folder_ / "train").string()};
    data.dev = {(folder_ / "dev").string()};
    data.max_length = 16;
    return data;
  }
  ContentHashes hashes() const {
    return {{"train", sha256_of_file(folder_ / "train")}, {"dev", sha256_of_file(folder_ / "dev")}};
  }
  static TaskSets sets_of(const config::DataTable& data, ContentHashes planned, const CorpusLimits& limits) {
    Options of_task, of_reader;
    of_task.set("probability", 0.15);
    of_task.set("whole_word", false);
    of_task.set("next_sentence", false);
    of_reader.set("record", std::string("line"));
    TaskParts parts;
    parts.make_task = [of_task](std::int64_t max_length) {
      return std::make_unique<mlm::Mlm>(of_task, TaskContext{max_length});
    };
    parts.task = parts.make_task(data.max_length == 0 ? longest_sequence : data.max_length);
    parts.reader = std::make_unique<text_file::TextFile>(of_reader, ReaderContext{});
    parts.fields = mlm::Mlm::fields();
    parts.measures = mlm::Mlm::measures();
    parts.identity = "mlm from text_file";
    return {std::move(parts), data, std::move(planned), limits};
  }
  static void expect_equal(const TaskSets& a, const TaskSets& b) {
    for (const data::Split split : data::all_splits) {
      ASSERT_EQ(a.has(split), b.has(split));
      if (!a.has(split)) continue;
      const ExampleArrays &x = a.set(split).set.arrays(), &y = b.set(split).set.arrays();
      EXPECT_TRUE(std::ranges::equal(x.lengths, y.lengths)) << data::name_of(split);
      EXPECT_TRUE(std::ranges::equal(x.ids, y.ids)) << data::name_of(split);
      EXPECT_TRUE(std::ranges::equal(x.sequences, y.sequences)) << data::name_of(split);
      ASSERT_EQ(x.columns.size(), y.columns.size());
      for (std::size_t i = 0; i < x.columns.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(x.columns[i].integers, y.columns[i].integers)) << i;
        EXPECT_TRUE(std::ranges::equal(x.columns[i].counts, y.columns[i].counts)) << i;
      }
    }
  }

  TemporaryFolder folder_;
  const WordHashTokenizer tokenizer_;
};

TEST_F(CorpusTest, PartsGiveTheSetsOfTheWholeInMemoryAndInFiles) {
  write(300);
  config::DataTable data = table();
  for (const bool split : {false, true})
    for (const bool share : {false, true}) {
      ContentHashes planned = hashes();
      if (split) {
        data.dev.clear();
        data.split = {0.8, 0.2};
        planned.erase("dev");
      }
      data.max_length = share ? 0 : 9;
      data.max_length_percent = share ? 60 : 0;
      TaskSets whole = sets_of(data, planned, {});
      whole.encode(tokenizer_, 1);
      for (const std::size_t bytes : {100UL, 1000UL, 5000UL}) {
        const CorpusLimits limits = {.part_bytes = bytes};
        TaskSets parts = sets_of(data, planned, limits);
        parts.encode(tokenizer_, 2);
        expect_equal(whole, parts);
        const TokenCache cache(folder_ /
                               ("tokens" + std::to_string(bytes) + (split ? "s" : "") + (share ? "%" : "")));
        TaskSets filed = sets_of(data, planned, limits);
        filed.encode(tokenizer_, 2, cache, "words");
        expect_equal(whole, filed);
        EXPECT_EQ(filed.max_length(), whole.max_length());
        TaskSets warm = sets_of(data, planned, limits);
        ASSERT_TRUE(warm.load_encoded(cache, "words"));
        expect_equal(whole, warm);
        EXPECT_EQ(whole.text_counts(), sets_of(data, planned, limits).text_counts());
      }
    }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("scratch"), std::string::npos) << entry.path();
}

TEST_F(CorpusTest, PartsOfAddedFilesGiveTheSetsOfTheWhole) {
  write(300);
  write_bytes(folder_ / "more", text_of_lines(400));
  config::DataTable data = table();
  data.more = {(folder_ / "more").string()};
  data.held_out = 0.3;
  for (const bool split : {false, true}) {
    if (split) {
      data.dev.clear();
      data.split = {0.8, 0.2};
    }
    TaskSets whole = sets_of(data, {}, {});
    whole.encode(tokenizer_, 1);
    const std::size_t learned = whole.set(data::Split::train).set.size();
    EXPECT_TRUE(split ? learned > 400 && learned < 540 : learned > 520 && learned < 640) << learned;
    for (const std::size_t bytes : {100UL, 3000UL}) {
      TaskSets parts = sets_of(data, {}, {.part_bytes = bytes});
      parts.encode(tokenizer_, 2);
      expect_equal(whole, parts);
      EXPECT_EQ(whole.text_counts(), sets_of(data, {}, {.part_bytes = bytes}).text_counts());
    }
  }
}

TEST_F(CorpusTest, ARefusedRecordHasItsNumberInTheWholeSet) {
  write(300);
  for (const std::size_t bytes : {100UL, 1000UL, 1000000UL})
    for (const bool share : {false, true}) {
      config::DataTable data = table();
      data.max_length = share ? 0 : 16;
      data.max_length_percent = share ? 60 : 0;
      TaskSets sets = sets_of(data, {}, {.part_bytes = bytes});
      EXPECT_EQ(message_of<Error>([&] { sets.encode(WordHashTokenizer("line 40 "), 1); }),
                (folder_ / "train").string() + ": record 41: refused")
          << bytes;
    }
}

TEST_F(CorpusTest, NotesOfPartsHaveTheirLines) {
  write(300);
  TaskSets parts = sets_of(table(), hashes(), {.part_bytes = 1000});
  parts.encode(tokenizer_, 1);
  const std::vector<std::string>& notes = parts.set(data::Split::train).reader_notes;
  ASSERT_EQ(notes.size(), 5U);
  EXPECT_TRUE(notes[0].starts_with("train, lines 1 to ")) << notes[0];
  EXPECT_TRUE(notes[4].starts_with("and ")) << notes[4];
}

TEST_F(CorpusTest, AFileThatChangesMeanwhileIsNoticed) {
  write(300);
  const ContentHashes planned = hashes();
  write(301);
  TaskSets sets = sets_of(table(), planned, {.part_bytes = 1000});
  EXPECT_NE(message_of<Error>([&] {
              sets.encode(tokenizer_, 1);
            }).find("(train) has changed since the run was planned"),
            std::string::npos);
}

TEST_F(CorpusTest, ALargeTrainingSetNeedsTheCache) {
  write(300);
  write_bytes(folder_ / "file", "");
  TaskSets sets = sets_of(table(), hashes(), {.part_bytes = 1000});
  const TokenCache cache(folder_ / "file" / "tokens");
  EXPECT_THROW(sets.encode(tokenizer_, 1, cache, "words"), std::exception);
  TaskSets without = sets_of(table(), hashes(), {.part_bytes = 1000});
  without.encode(tokenizer_, 1, TokenCache(fs::path()), "words");
  EXPECT_EQ(without.set(data::Split::train).set.size(), 300U) << "in memory if there is no cache";
}

TEST_F(CorpusTest, TheTableOfWordsIsBounded) {
  write(300);
  const TextCounts all = sets_of(table(), hashes(), {.part_bytes = 1000}).text_counts();
  const TextCounts some = sets_of(table(), hashes(), {.part_bytes = 1000, .most_words = 100}).text_counts();
  EXPECT_GT(all.size(), 300U);
  EXPECT_LE(some.size(), 100U);
  EXPECT_EQ(some.at("says"), all.at("says")) << "frequent words are counted to the end";
  EXPECT_EQ(some, sets_of(table(), hashes(), {.part_bytes = 1000, .most_words = 100}).text_counts());
}

/// Returns the peak of memory of a process of its own that runs `work`.
std::int64_t peak_memory(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  struct rusage usage = {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0)
    throw Error("the work did not end well");
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

TEST_F(CorpusTest, PeakMemoryDoesNotGrowWithTheFile) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  const auto growth = [&](std::size_t part_bytes) {
    std::int64_t before = 0, grown = 0;
    for (const int lines : {20'000, 200'000}) {  // 0.9 and 9.6 MB
      write(lines);
      const ContentHashes planned = hashes();
      const std::int64_t peak = peak_memory([&] {
        TaskSets sets = sets_of(table(), planned, {.part_bytes = part_bytes});
        sets.encode(tokenizer_, 2, TokenCache(folder_ / ("tokens" + std::to_string(part_bytes))), "words");
      });
      grown = peak - before;
      before = peak;
    }
    return grown;
  };
  // Only a few numbers for each sequence stay in memory: where it begins in each array.
  const std::int64_t bound = std::int64_t{24} << 20;
  EXPECT_LT(growth(std::size_t{1} << 18), bound);
  EXPECT_GT(growth(std::size_t{1} << 30), bound) << "reading it whole proves that this measures it";
}

}  // namespace
}  // namespace encore::tasks
