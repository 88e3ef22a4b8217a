// SPDX-License-Identifier: BSD-3-Clause
// Tests an index on disk (encore/document_index.hpp): what is found by words, by vectors and by both, also by
// the best passages of documents, digests that depend on the content alone, refusal of damaged files, queries
// with the syntax of FTS5, and that a process that is killed while it writes leaves no half index.
#include <encore/document_index.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
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

TEST(DocumentIndex, DigestsOfBothFormatsStayAsTheyWere) {
  const TemporaryFolder folder;
  EXPECT_EQ(build(folder / "whole", {animals()[0], animals()[1]}),
            "018e2f0ca5985b7eae3208d5a840cdc5cd7fa3bb7ff9f6a35bbe15381f6d93eb");
  DocumentIndexWriter writer(folder / "cut", {.stemming = true}, {.words = 3, .overlap = 1});
  writer.add({.id = "a", .text = "One two. Three."});
  writer.add({.id = "a", .text = "Three. Four five."});
  writer.add({.id = "b", .text = "Six."});
  EXPECT_EQ(writer.commit(), "4faaa050d970f78f072e271abb0ed5cc77dc953f459a54b6bd712c2eab9e57e2");
  const auto format = [&](const char* name) {
    return testing::read_bytes(folder / name / "index.json").substr(0, 12);
  };
  EXPECT_EQ(format("whole"), "{\"format\":1,") << "programs of the first version read it";
  EXPECT_EQ(format("cut"), "{\"format\":2,");
}

TEST(DocumentIndex, CopiesStoredVectorsWithoutAChangeOfBits) {
  const TemporaryFolder folder;
  std::mt19937_64 words(7);
  std::normal_distribution<double> draws;
  std::vector<Row> rows = animals();
  for (Row& row : rows)
    for (double& value : row.vector) value = draws(words);
  const std::string digest = build(folder / "index", rows);
  const DocumentIndex index(folder / "index");
  DocumentIndexWriter writer(folder / "copy", index.settings());
  for (std::size_t i = 0; i < index.size(); ++i)
    writer.add_stored({.id = index.id(i), .text = index.text(i)}, index.vector(i));
  EXPECT_EQ(writer.commit(), digest);
}

TEST(DocumentIndex, RecordsTheModelOfItsVectors) {
  const TemporaryFolder folder;
  const std::string digest = build(folder / "index", animals());
  EXPECT_FALSE(DocumentIndex(folder / "index").encoder());
  DocumentIndexWriter writer(folder / "index", {});
  for (const Row& row : animals()) writer.add(row.document, row.vector);
  const IndexEncoder encoder{.run = "minilm", .weights = "0123"};
  writer.record_encoder(encoder);
  EXPECT_EQ(writer.commit(), digest) << "it is not a part of the content";
  const DocumentIndex index(folder / "index");
  EXPECT_EQ(index.encoder(), encoder);
  EXPECT_EQ(index.engine(), index_engine());
}

TEST(DocumentIndex, FindsByBothParts) {
  const TemporaryFolder folder;
  build(folder / "index", animals());
  const DocumentIndex index(folder / "index");
  const std::vector<double> vector = {0.0, 1.0, 0.0};
  const auto found = [&](const char* query, const Fusion& fusion) {
    Ids ids;
    for (const FusedHit& hit : index.find(query, vector, fusion, 3, 2)) {
      EXPECT_EQ(hit.passage, hit.position) << "documents are whole";
      ids.push_back(index.id(hit.position));
    }
    return ids;
  };
  EXPECT_EQ(found("cat", {.method = SearchMethod::words}), Ids{"cat"});
  EXPECT_EQ(found("cat", {.method = SearchMethod::vectors}), (Ids{"cow", "fox"}));
  EXPECT_EQ(found("cat", {.method = SearchMethod::ranks}), (Ids{"cow", "cat"}));
  EXPECT_EQ(found("cat", {.method = SearchMethod::weighted, .weight = 0.2}), (Ids{"cat", "cow"}));
  EXPECT_EQ(found(" ", {.method = SearchMethod::vectors}), Ids());
}

// --- passages ---

/// Drawn documents of 1 to 8 passages. Many words and vectors are equal, so that scores are, too.
std::vector<Row> drawn_passages(std::mt19937_64& words, std::size_t documents) {
  const std::vector<std::string> vocabulary = {"red", "green", "blue", "black", "white"};
  std::vector<Row> rows;
  for (std::size_t i = 0; i < documents; ++i)
    for (std::size_t passage = 0, count = 1 + words() % 8; passage < count; ++passage) {
      Row row{.document = {.id = std::to_string(1000 + i), .text = {}}};
      for (std::size_t word = 0; word < 1 + words() % 6; ++word)
        row.document.text += vocabulary[words() % vocabulary.size()] + " ";
      for (int value = 0; value < 4; ++value) row.vector.push_back(static_cast<double>(words() % 5) - 1.0);
      row.vector[0] += 0.5;
      rows.push_back(row);
    }
  return rows;
}

/// Returns the scores of documents in an index of passages, computed from those of all passages in an index
/// of whole documents, by falling score.
std::vector<IndexHit> best_of_passages(const std::vector<IndexHit>& passages,
                                       const std::vector<std::size_t>& document_of, std::size_t depth) {
  std::map<std::size_t, double> best;
  for (const IndexHit& hit : passages) {
    const auto [known, is_new] = best.emplace(document_of[hit.position], hit.score);
    if (!is_new) known->second = std::max(known->second, hit.score);
  }
  std::vector<IndexHit> hits;
  for (const auto& [document, score] : best) hits.push_back({.position = document, .score = score});
  std::ranges::sort(hits, [](const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  });
  hits.resize(std::min(depth, hits.size()));
  return hits;
}

TEST(DocumentIndex, TheBestPassageOfADocumentCountsExactly) {
  const TemporaryFolder folder;
  std::mt19937_64 words(11);
  for (int round = 0; round < 60; ++round) {
    const std::vector<Row> rows = drawn_passages(words, 1 + words() % 40);
    DocumentIndexWriter cut(folder / "cut", {}, {.words = 6}), whole(folder / "whole", {});
    std::vector<std::size_t> document_of;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      cut.add(rows[i].document, rows[i].vector);
      whole.add({.id = std::to_string(100000 + i), .text = rows[i].document.text}, rows[i].vector);
      ids.insert(rows[i].document.id);
      document_of.push_back(ids.size() - 1);
    }
    cut.commit();
    whole.commit();
    const DocumentIndex index(folder / "cut"), passages(folder / "whole");
    ASSERT_EQ(index.size(), ids.size());
    ASSERT_EQ(index.passage_count(), rows.size());
    ASSERT_EQ(index.first_passage(index.size()), rows.size());
    const std::vector<double> vector = {1.0, static_cast<double>(words() % 3), 1.0, 0.0};
    for (const std::size_t depth : {1U, 2U, 5U, 100U}) {
      EXPECT_EQ(index.find_nearest(vector, depth),
                best_of_passages(passages.find_nearest(vector, rows.size()), document_of, depth));
      EXPECT_EQ(index.find_words("red blue", depth),
                best_of_passages(passages.find_words("red blue", rows.size()), document_of, depth));
      const auto hits = index.find("red blue", vector, {.method = SearchMethod::ranks}, depth, depth);
      std::set<std::size_t> positions;
      for (const FusedHit& hit : hits) {
        EXPECT_TRUE(positions.insert(hit.position).second) << "two passages of one document";
        EXPECT_EQ(document_of[hit.passage], hit.position);
      }
    }
  }
}

TEST(DocumentIndex, KeepsThePassagesOfADocument) {
  const TemporaryFolder folder;
  DocumentIndexWriter writer(folder / "index", {}, {.words = 5, .overlap = 2});
  writer.add({.id = "a", .text = "the cat"}, std::vector<double>{1.0, 0.0});
  writer.add({.id = "a", .text = "the dog"}, std::vector<double>{0.0, 1.0});
  writer.add({.id = "b", .text = "the cow"}, std::vector<double>{1.0, 1.0});
  EXPECT_THROW(writer.add({.id = "a", .text = "late"}, std::vector<double>{1.0, 1.0}), std::logic_error);
  writer.commit();
  const DocumentIndex index(folder / "index");
  EXPECT_EQ(index.passages(), (PassageSettings{.words = 5, .overlap = 2}));
  EXPECT_EQ(index.size(), 2U);
  EXPECT_EQ(index.first_passage(1), 2U);
  EXPECT_EQ(index.text(0), "the cat");
  EXPECT_EQ(index.passage_text(1), "the dog");
  // Words find the cat and vectors the dog: the passage is that of the better rank, and of words if both have
  // the same.
  const auto passage = [&](const char* query, const Fusion& fusion) {
    return index.passage_text(
        index.find(query, std::vector<double>{0.0, 1.0}, fusion, 10, 10).front().passage);
  };
  EXPECT_EQ(passage("cat", {.method = SearchMethod::words}), "the cat");
  EXPECT_EQ(passage("cat", {.method = SearchMethod::vectors}), "the dog");
  EXPECT_EQ(passage("cat", {.method = SearchMethod::ranks}), "the cat");
}

TEST(DocumentIndex, RefusesPassagesThatAreNotInOrder) {
  const TemporaryFolder folder;
  for (const auto& [sql, problem] : std::map<const char*, const char*>{
           {"UPDATE passage SET document = 1 WHERE position = 0", "not in the order of its documents"},
           {"UPDATE passage SET document = 0 WHERE position = 2", "a document has no passage"},
           {"UPDATE passage SET document = -1 WHERE position = 1", "not in the order of its documents"},
           {"UPDATE passage SET position = 7 WHERE position = 2", "not numbered from 0"},
           {"DELETE FROM meta WHERE name = 'passage_words'", "does not say how many words"}}) {
    DocumentIndexWriter writer(folder / "index", {}, {.words = 5});
    for (const char* id : {"a", "a", "b"}) writer.add({.id = id, .text = "text"});
    writer.commit();
    change_rows(folder / "index", sql);
    EXPECT_NE(message_of<Error>([&] { DocumentIndex opened(folder / "index"); }).find(problem),
              std::string::npos)
        << sql;
  }
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
