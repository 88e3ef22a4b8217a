// SPDX-License-Identifier: BSD-3-Clause
// Tests the reading of text files: find_invalid_utf8() (base/utf8.hpp), SHA-256 of text and files
// (base/sha256.hpp), text files and their lines (base/load_file.hpp), and vocabulary files
// (data/vocabulary.hpp). Runs store hashes and vocabularies, so what they contain must read back equal,
// whatever the line ends.
#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/lines.hpp>

#include "base/load_file.hpp"
#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "data/vocabulary.hpp"
#include "unit/record/temporary_folder.hpp"

namespace {

using encore::Error;
using encore::find_invalid_utf8;
using encore::testing::message_of;
using encore::testing::TemporaryFolder;
using encore::testing::write_bytes;

TEST(Utf8, AcceptsEveryWellFormedText) {
  EXPECT_FALSE(find_invalid_utf8(""));
  EXPECT_FALSE(find_invalid_utf8("plain ASCII of more than eight bytes"));
  EXPECT_FALSE(find_invalid_utf8("Zürich, 東京, \xF0\x9F\x98\x80 and \xF4\x8F\xBF\xBF"));
}

TEST(Utf8, FindsTheFirstByteThatIsWrong) {
  EXPECT_EQ(find_invalid_utf8("abcdefghij\xFF"), 10u);
  EXPECT_EQ(find_invalid_utf8("a\x80"), 1u);             // a continuation alone
  EXPECT_EQ(find_invalid_utf8("ab\xC3"), 2u);            // cut short
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("x\xE0\x80\xAF"), 1u);     // overlong
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1u);     // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xE2\x82"
                              "abcdefgh"),
            0u);  // third byte missing
}

TEST(Sha256, AgreesWithThePublishedExample) {
  EXPECT_EQ(encore::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(encore::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  const std::string bytes(600000, 'x');
  write_bytes(folder / "long", bytes);
  EXPECT_EQ(encore::sha256_of_file(folder / "long"), encore::sha256(bytes));
  EXPECT_THROW(encore::sha256_of_file(folder / "none"), Error);
}

TEST(Vocabulary, ComesBackFromAFile) {
  const TemporaryFolder folder;
  const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "##é", "a"};
  write_bytes(folder / "vocab.txt", encore::data::vocabulary_text(tokens));
  EXPECT_EQ(encore::data::load_vocabulary(folder / "vocab.txt"), tokens);
  write_bytes(folder / "windows.txt", "\xEF\xBB\xBF[PAD]\r\n[UNK]\r\n##é\r\na");
  EXPECT_EQ(encore::data::load_vocabulary(folder / "windows.txt"), tokens);
}

TEST(Vocabulary, KeepsMergesBehindItsPieces) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines = {"<unk>", "a", "b", "ab", "#version: 0.2", "a b"};
  EXPECT_EQ(encore::data::token_count(lines), 4U);
  EXPECT_EQ(encore::data::token_count(std::span(lines).first(3)), 3U);
  write_bytes(folder / "vocab.txt", encore::data::vocabulary_text(lines));
  EXPECT_EQ(encore::data::load_vocabulary(folder / "vocab.txt"), lines);
  write_bytes(folder / "vocab.json", R"({"ab": 3, "<unk>": 0, "a": 1, "b": 2})");
  EXPECT_EQ(message_of<Error>([&] {
              encore::data::load_vocabulary(folder / "vocab.json");
            }).find("cannot read the list of merges " + (folder / "merges.txt").string()),
            0U);
  write_bytes(folder / "merges.txt", "#version: 0.2 - Trained by `huggingface/tokenizers`\r\na b\r\n");
  EXPECT_EQ(encore::data::load_vocabulary(folder / "vocab.json"), lines);
}

TEST(Vocabulary, RejectsAnInvalidFile) {
  const TemporaryFolder folder;
  const std::string path = (folder / "vocab.txt").string();
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return message_of<Error>([&] { encore::data::load_vocabulary(path); });
  };
  EXPECT_EQ(refusal("[PAD]\na\n"),
            path + ": the vocabulary has no [UNK]; add a line [UNK], the token for words it cannot build");
  EXPECT_EQ(refusal("[UNK]\na\nb\na\n"), path + ":4: the token \"a\" stands twice, first in line 2");
  EXPECT_EQ(refusal("[UNK]\n\na\n"), path + ":2: an empty line in a vocabulary; every line is one token");
  EXPECT_EQ(refusal("[UNK]\n\xFF\n").find(path + ":2: the vocabulary is not UTF-8"), 0u);
  EXPECT_EQ(message_of<Error>([&] {
              encore::data::load_vocabulary(folder / "none");
            }).find("cannot read the vocabulary"),
            0u);
}

TEST(TextFile, NulBytesAndMarksBetweenFilesAreNamedByLine) {
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(folder / "train.tsv", bytes);
    return message_of<Error>([&] { encore::load_text(folder / "train.tsv", "training set"); });
  };
  EXPECT_NE(refusal(std::string("a\tb\nc\0d\n", 8)).find("train.tsv:2: the training set has a NUL byte"),
            std::string::npos);
  EXPECT_NE(refusal("a\tb\r\n\xEF\xBB\xBF"
                    "c\td\n")
                .find("train.tsv:2: this line of the training set begins with a byte order mark"),
            std::string::npos);
  EXPECT_NE(refusal("a\rb\r\xFF\r").find("train.tsv:3: the training set is not UTF-8"), std::string::npos);
  EXPECT_EQ(refusal("\xEF\xBB\xBF"
                    "a\tb\xEF\xBB\xBF\n"),
            "no error")
      << "in front of a file it is a mark, within a line a character";
  const std::string later = message_of<Error>(
      [&] { encore::require_utf8("\xEF\xBB\xBF...\n", folder / "train.tsv", "training set", 7); });
  EXPECT_NE(later.find("train.tsv:7: this line"), std::string::npos) << "in front of a later part: " << later;
}

TEST(Vocabulary, EndsLinesWithAnyLineEnd) {
  TemporaryFolder folder;
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    write_bytes(folder / "vocab.txt", "[UNK]" + end + "a" + end + "b" + end);
    EXPECT_EQ(encore::data::load_vocabulary(folder / "vocab.txt"),
              (std::vector<std::string>{"[UNK]", "a", "b"}));
  }
}

TEST(Lines, EndWithLfCrlfAndCr) {
  const auto lines_of = [](std::string_view text) {
    std::vector<std::string> all;
    for (encore::Lines lines(text); lines.next();) all.emplace_back(lines.line());
    return all;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(lines_of(""), Texts{});
  EXPECT_EQ(lines_of("a"), Texts{"a"});
  EXPECT_EQ(lines_of("a\nb\r\nc\rd\r\r\ne\n\nf\r\rg\n"), (Texts{"a", "b", "c", "d", "e", "", "f", "", "g"}));
  EXPECT_EQ(lines_of("\r"), Texts{""});
  EXPECT_EQ(encore::count_line_ends("a\nb\r\nc\rd"), 3);
  encore::Lines mixed("a\nb\rc\n");
  while (mixed.next()) {
  }
  EXPECT_EQ(mixed.stray_returns(), 1);
  EXPECT_EQ(mixed.number(), 3);
}

}  // namespace
