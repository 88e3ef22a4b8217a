// SPDX-License-Identifier: BSD-3-Clause
// RowStore: the file index.db of an index, an SQLite database with the documents and the words of their
// text (FTS5). In an index of passages it has the documents, their passages, and the words of these.
// document_index.cpp writes and opens it. It is a class of its own beside store::Database, because plugins
// load it: it has no locks, guards or upgrades, as an index is never changed. Files of released versions have
// its tables, so a change needs a new format number. Which words of a query count decides the scores of an
// index, so the rules of query_words.cpp must stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/document_index.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace encore::index {

/// A prepared statement. Values are numbered from 1, columns from 0.
class RowStatement {
 public:
  RowStatement(sqlite3* database, const std::filesystem::path& path, const char* sql);
  ~RowStatement();
  RowStatement(const RowStatement&) = delete;
  RowStatement& operator=(const RowStatement&) = delete;

  void bind(int number, std::string_view text);
  void bind(int number, std::int64_t value);
  /// Returns whether there is a row. Throws Error if the database is damaged.
  bool step();
  void reset();
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;

 private:
  void require(int code) const;

  sqlite3* database_;
  std::filesystem::path path_;
  sqlite3_stmt* statement_ = nullptr;
};

/// The connection to an index.db.
class RowDatabase {
 public:
  enum class Mode : std::uint8_t { create, read };
  RowDatabase(std::filesystem::path path, Mode mode);
  ~RowDatabase();
  RowDatabase(const RowDatabase&) = delete;
  RowDatabase& operator=(const RowDatabase&) = delete;

  void execute(const char* sql);
  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

/// Writes a new index.db.
class RowWriter {
 public:
  RowWriter(const std::filesystem::path& file, const IndexSettings& settings,
            const PassageSettings& passages);
  /// Adds the document with the next position, or the next passage of a document.
  void add(const IndexedDocument& document);
  void record_encoder(const IndexEncoder& encoder);
  /// Completes the file.
  void finish();

 private:
  RowDatabase database_;
  bool has_passages_;
  RowStatement insert_document_, insert_words_;
  std::optional<RowStatement> insert_passage_;
  std::string last_id_;
  std::int64_t next_ = 0, documents_ = 0;
};

/// Reads an index.db. Throws Error if its tables are not those that RowWriter makes.
class RowStore {
 public:
  explicit RowStore(const std::filesystem::path& file);

  /// Returns the number of documents.
  std::size_t size() const { return size_; }
  const IndexSettings& settings() const { return settings_; }
  const PassageSettings& passages() const { return passages_; }
  bool has_passages() const { return has_passages_; }
  /// Returns the number of passages; that of documents if they are whole.
  std::size_t passage_count() const { return has_passages_ ? document_of_.size() : size_; }
  std::size_t document_of(std::size_t passage) const {
    return has_passages_ ? document_of_[passage] : passage;
  }
  /// Returns the document of each passage; nothing if documents are whole.
  std::span<const std::uint32_t> documents() const { return document_of_; }
  std::size_t first_passage(std::size_t position) const {
    return has_passages_ ? first_passage_[position] : position;
  }
  std::optional<IndexEncoder> encoder() const;
  /// Returns the version of SQLite that wrote the file.
  std::string sqlite_version() const;
  std::string id(std::size_t position);
  std::string text(std::size_t passage);
  /// Returns the hits of DocumentIndex::find_words(), with the best passage of each document as position.
  std::vector<IndexHit> find(std::string_view query, std::size_t depth);

 private:
  std::string value(RowStatement& statement, std::size_t position);
  void read_passages();

  RowDatabase database_;
  bool has_passages_;
  std::map<std::string, std::string> meta_;  ///< the rows of the table of this name
  IndexSettings settings_;
  PassageSettings passages_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> document_of_;  ///< by passage; empty if documents are whole
  std::vector<std::size_t> first_passage_;  ///< by document
  RowStatement id_, text_, find_;
};

// --- the words of a query, as RowStore::find() looks for them (query_words.cpp). A query comes from anyone,
// so no character of it may reach FTS5 as an operator. ---

/// The most words of a query that count: the time of a query grows with them, and a query of a person has
/// fewer.
inline constexpr std::size_t most_query_words = 256;

/// Returns the different words of a query in their order, in lower case where they are ASCII, at most
/// most_query_words. A word is a sequence of letters and digits of ASCII and of characters beyond ASCII. With
/// `drops_stop_words`, frequent English words are left out, unless the query has no others.
std::vector<std::string> words_of_query(std::string_view query, bool drops_stop_words);

/// Returns the query of FTS5, the full-text search of SQLite, that finds documents with any of the words; ""
/// if there are none.
std::string match_expression(const std::vector<std::string>& words);

}  // namespace encore::index
