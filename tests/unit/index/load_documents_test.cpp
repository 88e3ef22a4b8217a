// SPDX-License-Identifier: BSD-3-Clause
// Tests how documents are read (encore/document_index.hpp): both forms of files, the order of ids, and that
// an invalid line is named with its file and number.
#include <gtest/gtest.h>

#include <encore/document_index.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

std::vector<IndexedDocument> loaded(const std::string& name, const std::string& content) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / name, content);
  return load_documents(folder / name);
}

std::string refusal(const std::string& name, const std::string& content) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / name, content);
  const std::string message = testing::message_of<Error>([&] { load_documents(folder / name); });
  return message.substr(std::min(message.size(), folder.path().string().size() + 1));
}

TEST(LoadDocuments, SortsByIdWhateverTheOrderOfLines) {
  const std::vector<IndexedDocument> expected = {{.id = "10", .text = "ten"}, {.id = "9", .text = "nine"}};
  EXPECT_EQ(loaded("d.tsv", "9\tnine\n10\tten\n"), expected);
  EXPECT_EQ(loaded("d.jsonl", "{\"id\": 10, \"text\": \"ten\"}\n\n{\"id\": \"9\", \"text\": \"nine\"}\n"),
            expected);
}

TEST(LoadDocuments, PutsTheTitleInFrontOfTheText) {
  EXPECT_EQ(loaded("d.jsonl", R"({"id": "a", "title": "Head", "text": "Body"})").front().text, "Head\nBody");
  EXPECT_EQ(loaded("d.tsv", "a\tHead\tBody").front().text, "Head\tBody");
}

TEST(LoadDocuments, NamesTheLineThatIsWrong) {
  EXPECT_EQ(refusal("d.tsv", "a\tx\nb x\n"), "d.tsv:2: this line has no tab; expected id, tab, text");
  EXPECT_EQ(refusal("d.tsv", "a\tx\na\ty\n"), "d.tsv:2: the id \"a\" stands twice; expected each id once");
  EXPECT_EQ(refusal("d.tsv", "\tx\n"), "d.tsv:1: the id is empty");
  EXPECT_EQ(refusal("d.tsv", "\n"), "d.tsv has no documents: expected at least one");
  EXPECT_NE(refusal("d.jsonl", "{\"text\": \"x\"}").find("d.jsonl:1: \"id\" is missing"), std::string::npos);
  EXPECT_NE(refusal("d.jsonl", "{\"id\": [], \"text\": \"x\"}").find("\"id\" is array"), std::string::npos);
  EXPECT_NE(refusal("d.jsonl", "[1]").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal("d.jsonl", "{\"id\": \"a\"").find("d.jsonl:1: "), std::string::npos);
}

}  // namespace
}  // namespace encore
