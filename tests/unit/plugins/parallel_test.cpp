// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "parallel" (plugins/readers/parallel.hpp), which reads a source file and a target file as
// one set: which lines belong together, which pairs are skipped and counted, and what is refused. Messages
// must name file and line; their words may change.
#include "parallel.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "unit/plugins/without_remedy.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::parallel {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;

const Options defaults = default_options<Parallel>(),
              skipping = options_with<Parallel>("bad_rows", std::string("skip"));

Records read(const std::vector<InputText>& files, const Options& options = defaults) {
  return Parallel(options, {}).read(files, "training set");
}
Records read(std::string_view source, std::string_view target, const Options& options = defaults) {
  return read({{"train.en", source}, {"train.de", target}}, options);
}
std::string refusal(std::string_view source, std::string_view target, const Options& options = defaults) {
  return without_remedy(message_of<Error>([&] { read(source, target, options); }));
}

TEST(Parallel, PutsEqualLinesSideBySide) {
  const Records records = read("A man runs.\n\tTwo  dogs \n", "Ein Mann läuft.\nZwei Hunde");
  EXPECT_EQ(records.texts("source"), (Texts{"A man runs.", "Two  dogs"}));
  EXPECT_EQ(records.texts("target"), (Texts{"Ein Mann läuft.", "Zwei Hunde"}));
  EXPECT_TRUE(records.notes.empty());
}

TEST(Parallel, AcceptsWhatOtherToolsWrite) {
  const Records records = read("\xEF\xBB\xBFone\r\ntwo\r\n", "eins\nzwei\n");
  EXPECT_EQ(records.texts("source"), (Texts{"one", "two"}));
}

TEST(Parallel, ReadsFurtherPairsOfFiles) {
  const Records records = read({{"a.en", "one\n"}, {"a.de", "eins\n"}, {"b.en", "two"}, {"b.de", "zwei"}});
  EXPECT_EQ(records.texts("source"), (Texts{"one", "two"}));
  EXPECT_EQ(records.texts("target"), (Texts{"eins", "zwei"}));
}

TEST(Parallel, RefusesAFileWithoutItsPartner) {
  EXPECT_EQ(message_of<Error>([] {
              read({{"train.en", "one\n"}});
            }),
            "train.en: the training set has 1 file, so this one has no partner: name the files in pairs, "
            "[\"source\", \"target\"]");
  EXPECT_EQ(message_of<Error>([] {
              read({{"a.en", "one"}, {"a.de", "eins"}, {"b.en", "two"}});
            }),
            "b.en: the training set has 3 files, so this one has no partner: name the files in pairs, "
            "[\"source\", \"target\"]");
}

TEST(Parallel, RefusesFilesOfUnequalLength) {
  EXPECT_EQ(refusal("one\n", "eins\nzwei\n"),
            "train.en has 1 line and train.de has 2; line i of one belongs to line i of the other, so both "
            "need the same number");
  EXPECT_NE(refusal("one\ntwo\n\n", "eins\nzwei\n", skipping).find("train.en has 3 lines and train.de has 2"),
            std::string::npos)
      << "skipping does not mend what belongs to what";
}

TEST(Parallel, NamesEveryEmptySide) {
  EXPECT_EQ(refusal("one\n \n\nfour\n", "eins\nzwei\n\n\t\n"),
            "train.en:2: this line is empty, but that of train.de is not\ntrain.en:3: this line is empty, "
            "and so is that of train.de\ntrain.de:4: this line is empty, but that of train.en is not");
}

TEST(Parallel, CountsTheBadRowsOfEachFile) {
  std::string sources, targets;
  for (int i = 0; i < 12; ++i) {
    sources += "\na\n";
    targets += "b\n\n";
  }
  const std::string message = refusal(sources, targets);
  EXPECT_NE(message.find("\nand 2 more rows like these in train.en\ntrain.de:2: "), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with("\nand 2 more rows like these in train.de")) << message;
}

TEST(Parallel, SkipsPairsWithAnEmptySideAndCountsThem) {
  const Records records = read("one\n\nthree\n", "eins\nzwei\n\n", skipping);
  EXPECT_EQ(records.texts("source"), Texts{"one"});
  EXPECT_EQ(records.texts("target"), Texts{"eins"});
  EXPECT_EQ(
      records.notes,
      Texts{
          "2 of 3 rows are skipped; the first: train.en:2: this line is empty, but that of train.de is not"});
}

TEST(Parallel, RefusesASetWithoutAnyPair) {
  EXPECT_EQ(refusal("", ""), "train.en: the training set is empty: expected at least one pair of lines");
  EXPECT_EQ(refusal("\n", "x\n", skipping),
            "train.en: the training set has no pair of lines with text; 1 of 1 rows is skipped: train.en:1: "
            "this line is empty, but that of train.de is not");
}

TEST(Parallel, WritesTheTargets) {
  Records records;
  records.add("target", Texts{"Ein\nMann", "zwei"});
  EXPECT_EQ(Parallel(defaults, {}).write(records, FilePart::later), "Ein Mann\nzwei\n");
}

TEST(Parallel, EndsLinesWithAnyLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"})
    EXPECT_EQ(read("a" + end + "b" + end, "c\nd\n").texts("source"), (Records::Texts{"a", "b"}));
}

}  // namespace
}  // namespace encore::parallel
