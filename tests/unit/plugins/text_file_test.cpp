// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "text_file" (plugins/readers/text_file.hpp): what becomes a record of a plain text file,
// what is skipped and counted, and what is refused. What a record is decides the bits of runs and must stay;
// the words of messages may change.
#include "text_file.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::text_file {
namespace {

using testing::message_of;
using Texts = std::vector<std::string>;

TextFile make(const std::string& record) {
  Options options;
  options.set("record", record);
  return {options, {}};
}

Records read(std::string_view text, const std::string& record = "line") {
  const InputText file{"train.txt", text};
  return make(record).read({&file, 1}, "training set");
}

TEST(TextFile, MakesEachLineARecord) {
  const Records records = read("One line.\n\tAnother,  with blanks \nno \"label\"\tat all");
  EXPECT_EQ(records.texts("text"), (Texts{"One line.", "Another,  with blanks", "no \"label\"\tat all"}));
  EXPECT_TRUE(records.notes.empty());
}

TEST(TextFile, AcceptsWhatOtherToolsWrite) {
  EXPECT_EQ(read("\xEF\xBB\xBFZürich\r\nOslo\r\n").texts("text"), (Texts{"Zürich", "Oslo"}));
}

TEST(TextFile, CountsTheLinesThatItSkips) {
  EXPECT_EQ(read("a\n\n \t\nb\n\n").notes, Texts{"3 lines have no text and are skipped"});
  EXPECT_EQ(read("a\n\nb\n").notes, Texts{"1 line has no text and is skipped"});
}

TEST(TextFile, JoinsTheLinesOfAParagraph) {
  const Records records = read("\nOne line\n and its end.\n\n\nAnother.\r\n \nThe last\none", "paragraph");
  EXPECT_EQ(records.texts("text"), (Texts{"One line and its end.", "Another.", "The last one"}));
  EXPECT_TRUE(records.notes.empty()) << "blank lines part paragraphs";
}

TEST(TextFile, ReadsSeveralFilesWithoutJoiningTheirParagraphs) {
  const std::vector<InputText> files = {{"a.txt", "one"}, {"b.txt", "two\n"}};
  EXPECT_EQ(make("paragraph").read(files, "training set").texts("text"), (Texts{"one", "two"}));
}

TEST(TextFile, KeepsAWholeFileByteForByteButItsLineEnds) {
  const std::string text = "\n First,\tthen \r\n\r\n\rlast  \n";
  const Records records = read("\xEF\xBB\xBF" + text, "file");
  EXPECT_EQ(records.texts("text"), (Texts{"\n First,\tthen \n\n\nlast  \n"}))
      << "a lone CR is a line end too";
  EXPECT_TRUE(records.notes.empty()) << "no line is skipped";
  const std::vector<InputText> files = {{"a.txt", "one\n"}, {"b.txt", "two"}};
  EXPECT_EQ(make("file").read(files, "training set").texts("text"), (Texts{"one\n", "two"}));
  EXPECT_EQ(make("file").cut(), Cut::nowhere);
}

TEST(TextFile, RefusesAWholeFileWithoutText) {
  const std::vector<InputText> files = {{"a.txt", "one\n"}, {"b.txt", " \n"}};
  EXPECT_EQ(message_of<Error>([&] { make("file").read(files, "training set"); }),
            "b.txt: this file of the training set has no text, but it is a record (record = \"file\"): leave "
            "it out");
}

TEST(TextFile, RefusesASetWithoutText) {
  const std::string expected = "train.txt: the training set is empty: expected at least one line with text";
  EXPECT_EQ(message_of<Error>([] { read(""); }), expected);
  EXPECT_EQ(message_of<Error>([] { read("\n \r\n"); }), expected);
  EXPECT_EQ(message_of<Error>([] { read("\n\n", "paragraph"); }), expected);
}

TEST(TextFile, ReadsBackWhatItWrites) {
  for (const char* record : {"line", "paragraph"}) {
    const Records records = read("One.\n\nTwo,\nand more.\n", record);
    const std::string written = make(record).write(records, FilePart::first);
    EXPECT_EQ(read(written, record).texts("text"), records.texts("text")) << record;
  }
  EXPECT_EQ(
      message_of<Error>([&] { make("file").write(read("One.", "file"), FilePart::first); }),
      "with record = \"file\" a file holds one text, so it cannot hold all predictions: use --format jsonl");
  Records broken;
  broken.add("text", Texts{"one\nline"});
  EXPECT_EQ(make("line").write(broken, FilePart::later), "one line\n");
}

TEST(TextFile, EndsLinesWithAnyLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    EXPECT_EQ(read("a b" + end + "c" + end, "line").texts("text"), (Records::Texts{"a b", "c"}));
    EXPECT_EQ(read("a" + end + "b" + end + end + "c", "paragraph").texts("text"),
              (Records::Texts{"a b", "c"}));
    EXPECT_EQ(read("a" + end + "b" + end, "file").texts("text"), (Records::Texts{"a\nb\n"}));
  }
}

}  // namespace
}  // namespace encore::text_file
