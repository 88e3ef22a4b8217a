// SPDX-License-Identifier: BSD-3-Clause
// Tests an index on disk (encore/document_index.hpp): what is found by words and by vectors, digests that
// depend on the content alone, refusal of damaged files, queries with the syntax of FTS5, and that a process
// that is killed while it writes leaves no half index.
#include <encore/document_index.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "base/sha256.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

struct Row {
  IndexedDocument document;
  std::vector<double> vector = {};
};

const std::vector<Row>& animals() {
  static const std::vector<Row> rows = {
      {{.id = "cat", .text = "The cat sleeps on the mat"}, {1.0, 0.0, 0.0}},
      {{.id = "cow", .text = "Cows graze; a cow gives milk"}, {0.0, 2.0, 0.0}},
      {{.id = "dog", .text = "The dog is running in the rain"}, {0.6, 0.8, 0.0}},
      {{.id = "eel", .text = ""}, {0.0, 0.0, 0.0}},
      {{.id = "fox", .text = "The dog is running in the rain"}, {3.0, 4.0, 0.0}}};
  return rows;
}

std::string build(const std::filesystem::path& folder, const std::vector<Row>& rows,
                  const IndexSettings& settings = {}) {
  DocumentIndexWriter writer(folder, settings);
  for (const Row& row : rows) writer.add(row.document, row.vector);
  return writer.commit();
}

std::vector<std::string> ids_of(const DocumentIndex& index, const std::vector<IndexHit>& hits) {
  std::vector<std::string> ids;
  for (const IndexHit& hit : hits) ids.push_back(index.id(hit.position));
  return ids;
}

using Ids = std::vector<std::string>;

TEST(DocumentIndex, FindsByWordsAndByVectors) {
  const TemporaryFolder folder;
  const std::string digest = build(folder / "index", animals());
  const DocumentIndex index(folder / "index");
  EXPECT_EQ(index.digest(), digest);
  EXPECT_EQ(index.size(), 5U);
  EXPECT_EQ(index.width(), 3U);
  EXPECT_EQ(index.text(1), "Cows graze; a cow gives milk");
  EXPECT_EQ(ids_of(index, index.find_words("cow", 10)), Ids{"cow"});
  EXPECT_EQ(ids_of(index, index.find_words("a cat or a dog", 10)), (Ids{"cow", "cat", "fox", "dog"}));
  EXPECT_TRUE(index.find_words("zebra", 10).empty());
  // The dog and the fox have equal vectors and equal text: ties are in the order of falling ids.
  const std::vector<double> query = {3.0, 4.0, 0.0};
  const std::vector<IndexHit> hits = index.find_nearest(query, 4);
  EXPECT_EQ(ids_of(index, hits), (Ids{"fox", "dog", "cow", "cat"}));
  EXPECT_NEAR(hits.front().score, 1.0, 1e-6);
  EXPECT_EQ(hits[0].score, hits[1].score);
  EXPECT_NEAR(hits[2].score, 0.8, 1e-6);
  EXPECT_EQ(ids_of(index, index.find_nearest(query, 100)).back(), "eel");
}

TEST(DocumentIndex, StemsAndDropsStopWordsByItsSettings) {
  const TemporaryFolder folder;
  build(folder / "plain", animals());
  build(folder / "stems", animals(), {.stemming = true, .stop_words = true});
  const DocumentIndex plain(folder / "plain"), stems(folder / "stems");
  EXPECT_TRUE(stems.settings().stemming && stems.settings().stop_words);
  EXPECT_TRUE(plain.find_words("runs sleeping", 10).empty());
  EXPECT_EQ(ids_of(stems, stems.find_words("the runs sleeping", 10)), (Ids{"cat", "fox", "dog"}));
  EXPECT_EQ(plain.find_words("the", 10).size(), 3U);
  EXPECT_EQ(ids_of(stems, stems.find_words("the cat", 10)), Ids{"cat"});
  EXPECT_NE(plain.digest(), stems.digest());
}

TEST(DocumentIndex, TakesQueriesWithTheSyntaxOfFts) {
  const TemporaryFolder folder;
  build(folder / "index", animals());
  const DocumentIndex index(folder / "index");
  for (const char* query :
       {"\"", "cat\"", "cat AND", "NOT cat", "text:cat", "^cat", "cat*", "NEAR(cat dog, 2)", "(cat", "cat)",
        "- cat", "{text} : cat", "cat + dog", "cat\\", "'; DROP TABLE document; --", "words:cat",
        "\xE2\x80\x94 cat", "cat\xE2\x80\x94mat"})
    EXPECT_LE(index.find_words(query, 10).size(), 5U) << query;
  EXPECT_EQ(ids_of(index, index.find_words("NOT cat", 10)), Ids{"cat"});
  EXPECT_EQ(ids_of(index, index.find_words("\xE2\x80\x94 cat", 10)), Ids{"cat"});
  EXPECT_TRUE(index.find_words("\xE2\x80\x94", 10).empty());
  EXPECT_TRUE(index.find_words(std::string("\0cow", 1), 10).empty());
  EXPECT_EQ(ids_of(index, index.find_words(std::string("\0cow", 4), 10)), Ids{"cow"});
  std::string long_query;
  for (int i = 0; i < 100'000; ++i) long_query += "word" + std::to_string(i % 300) + " ";
  EXPECT_EQ(ids_of(index, index.find_words("cow " + long_query, 10)), Ids{"cow"});
}

TEST(DocumentIndex, DigestDependsOnTheContentAlone) {
  const TemporaryFolder folder;
  const std::string digest = build(folder / "a", animals());
  EXPECT_EQ(build(folder / "b", animals()), digest);
  EXPECT_EQ(build(folder / "a", animals()), digest) << "built again in its place";
  EXPECT_EQ(testing::read_bytes(folder / "a" / "index.db"), testing::read_bytes(folder / "b" / "index.db"));
  std::vector<Row> changed = animals();
  changed[0].vector[2] = 1e-3;
  EXPECT_NE(build(folder / "a", changed), digest);
  changed = animals();
  changed[0].document.text += ".";
  EXPECT_NE(build(folder / "a", changed), digest);
  EXPECT_EQ(DocumentIndex(folder / "a").text(0), changed[0].document.text) << "the new index is in place";
  for (Row& row : changed) row.vector.clear();
  build(folder / "a", changed);
  EXPECT_EQ(DocumentIndex(folder / "a").width(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.part"));
}

TEST(DocumentIndex, RefusesVectorsThatDoNotFit) {
  const TemporaryFolder folder;
  build(folder / "index", animals());
  const DocumentIndex index(folder / "index");
  const std::vector<double> narrow = {1.0, 0.0}, broken = {1.0, 0.0, std::nan("")};
  EXPECT_EQ(message_of<Error>([&] { index.find_nearest(narrow, 1); }),
            "the vector of the query has 2 values: expected 3; use the model with which the index was built");
  EXPECT_EQ(message_of<Error>([&] { index.find_nearest(broken, 1); }),
            "a vector has a value that is not a finite number");
  std::vector<Row> rows = animals();
  rows[2].vector = narrow;
  EXPECT_EQ(message_of<Error>([&] { build(folder / "other", rows); }),
            "document \"dog\" has a vector of width 2: expected 3, as the documents before it");
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));
  EXPECT_FALSE(std::filesystem::exists(folder / "other.part"));
  for (Row& row : rows) row.vector.clear();
  build(folder / "words", rows);
  EXPECT_EQ(message_of<Error>([&] { DocumentIndex(folder / "words").find_nearest(narrow, 1); }),
            "the index has no vectors: build it with a model that gives them");
}

TEST(DocumentIndex, AnEmptyIndexFindsNothing) {
  const TemporaryFolder folder;
  build(folder / "index", {});
  const DocumentIndex index(folder / "index");
  EXPECT_EQ(index.size(), 0U);
  EXPECT_TRUE(index.find_words("cat", 10).empty());
}

TEST(DocumentIndex, RefusesDamagedFiles) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "index";
  build(place, animals());
  const auto refusal = [&] { return message_of<Error>([&] { DocumentIndex opened(place); }); };
  EXPECT_EQ(refusal(), "no error");
  for (const char* name : {"index.json", "index.db", "vectors.safetensors", "vectors.int8.safetensors"}) {
    const std::string bytes = testing::read_bytes(place / name);
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 40) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      testing::write_bytes(place / name, changed);
      // The caller knows the digest of the content, and compares it.
      const bool is_of_content = std::string(name) == "index.json" && bytes.find("files") > at;
      EXPECT_TRUE(refusal() != "no error" || is_of_content) << name << ", byte " << at;
    }
    testing::write_bytes(place / name, bytes + "x");
    EXPECT_NE(refusal().find("is damaged"), std::string::npos) << name;
    std::filesystem::remove(place / name);
    EXPECT_NE(refusal(), "no error") << name;
    testing::write_bytes(place / name, bytes);
    EXPECT_EQ(refusal(), "no error");
  }
  EXPECT_NE(message_of<Error>([&] { DocumentIndex opened(folder / "nowhere"); }).find("has no index"),
            std::string::npos);
}

/// Changes index.db, and index.json so that it has the digest of the changed file.
void change_rows(const std::filesystem::path& place, const char* sql) {
  const std::string before = sha256_of_file(place / "index.db");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((place / "index.db").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
  std::string text = testing::read_bytes(place / "index.json");
  text.replace(text.find(before), before.size(), sha256_of_file(place / "index.db"));
  testing::write_bytes(place / "index.json", text);
}

TEST(DocumentIndex, RefusesTablesThatAreNotItsOwn) {
  const TemporaryFolder folder;
  for (const char* sql : {"CREATE VIEW other AS SELECT 1", "CREATE TABLE other (x)",
                          "CREATE TRIGGER other AFTER INSERT ON document BEGIN SELECT 1; END",
                          "ALTER TABLE document RENAME TO kept; CREATE VIEW document AS SELECT * FROM kept",
                          "CREATE INDEX other ON document (text)"}) {
    build(folder / "index", animals());
    change_rows(folder / "index", sql);
    EXPECT_NE(message_of<Error>([&] {
                DocumentIndex opened(folder / "index");
              }).find("its tables are not those of an index"),
              std::string::npos)
        << sql;
  }
  build(folder / "index", animals());
  change_rows(folder / "index", "UPDATE meta SET value = '2' WHERE name = 'format'");
  EXPECT_NE(message_of<Error>([&] { DocumentIndex opened(folder / "index"); }).find("found format \"2\""),
            std::string::npos);
}

std::vector<Row> numbered_rows() {
  std::vector<Row> rows;
  for (int i = 100; i < 400; ++i)
    rows.push_back(
        {{.id = std::to_string(i), .text = "document number " + std::to_string(i)}, {1.0 * i, 2.0, 3.0}});
  return rows;
}

/// Builds an index in `folder` again and again until the process is killed.
[[noreturn]] void build_forever(const std::filesystem::path& folder) {
  for (const std::vector<Row> rows = numbered_rows();;) build(folder, rows);
}

TEST(DocumentIndex, AHundredKillsLeaveNoHalfIndex) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "index", part = folder / "index.part";
  const std::string digest = build(place, numbered_rows());
  std::mt19937 words(5);
  int killed_while_writing = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) build_forever(place);
    std::this_thread::sleep_for(std::chrono::microseconds(words() % 60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    killed_while_writing += std::filesystem::exists(part) ? 1 : 0;
    EXPECT_EQ(DocumentIndex(place).digest(), digest) << "kill " << i;
  }
  EXPECT_GT(killed_while_writing, 10);
  build(place, animals());
  EXPECT_FALSE(std::filesystem::exists(part)) << "a writer removes what the last one left";
}

}  // namespace
}  // namespace encore
