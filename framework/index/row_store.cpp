// SPDX-License-Identifier: BSD-3-Clause
// The tables of index.db and the queries on them. FTS5 keeps the words only; it reads the text from the table
// of documents (an external content table). The tokenizer unicode61 removes diacritics; porter before it
// makes stems. Read row_store.hpp and query_words.hpp first.
#include "index/row_store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "index/query_words.hpp"

namespace encore::index {
namespace {

constexpr const char* meta_table =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";
constexpr const char* document_table =
    "CREATE TABLE document (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL)";
constexpr const char* plain_words =
    "CREATE VIRTUAL TABLE words USING fts5(text, content='document', content_rowid='position', "
    "tokenize='unicode61 remove_diacritics 2')";
constexpr const char* stemmed_words =
    "CREATE VIRTUAL TABLE words USING fts5(text, content='document', content_rowid='position', "
    "tokenize='porter unicode61 remove_diacritics 2')";
constexpr const char* format_number = "1";

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

/// Keeps the best `depth` hits.
class BestHits {
 public:
  explicit BestHits(std::size_t depth) : depth_(depth) {}
  void add(const IndexHit& hit) {
    if (hits_.size() == depth_) {
      if (depth_ == 0 || !is_better(hit, hits_.front())) return;
      std::ranges::pop_heap(hits_, is_better);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::ranges::push_heap(hits_, is_better);
  }
  std::vector<IndexHit> sorted() && {
    std::ranges::sort_heap(hits_, is_better);
    return std::move(hits_);
  }

 private:
  static bool is_better(const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  }

  std::size_t depth_;
  std::vector<IndexHit> hits_;  ///< a heap whose first element is the worst
};

[[noreturn]] void fail(sqlite3* database, const std::filesystem::path& path, int code) {
  const std::string reason = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  const bool is_full = code == SQLITE_FULL || code == SQLITE_IOERR;
  throw Error((is_full ? "cannot write " : "cannot use ") + path.string() + ": " + reason);
}

}  // namespace

// --- statements ---

RowStatement::RowStatement(sqlite3* database, const std::filesystem::path& path, const char* sql)
    : database_(database), path_(path) {
  require(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
}

RowStatement::~RowStatement() {
  sqlite3_finalize(statement_);
}

void RowStatement::require(int code) const {
  if (code != SQLITE_OK) fail(database_, path_, code);
}

void RowStatement::bind(int number, std::string_view text) {
  require(sqlite3_bind_text64(statement_, number, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void RowStatement::bind(int number, std::int64_t value) {
  require(sqlite3_bind_int64(statement_, number, value));
}

bool RowStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(database_, path_, code);
  return code == SQLITE_ROW;
}

void RowStatement::reset() {
  sqlite3_reset(statement_);
}

std::string RowStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::int64_t RowStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double RowStatement::number(int column) const {
  return sqlite3_column_double(statement_, column);
}

// --- the connection ---

RowDatabase::RowDatabase(std::filesystem::path path, Mode mode) : path_(std::move(path)) {
  const int flags = mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string reason = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
    sqlite3_close_v2(handle_);
    throw Error("cannot open " + path_.string() + ": " + reason);
  }
  if (mode == Mode::create) return;
  // The file of a bundle may come from anyone.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

RowDatabase::~RowDatabase() {
  sqlite3_close_v2(handle_);
}

void RowDatabase::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(handle_, path_, code);
}

// --- writing ---

namespace {

// Names of rows of meta that only some indexes have. Programs that do not know them ignore them.
constexpr const char* encoder_run = "encoder_run";
constexpr const char* encoder_weights = "encoder_weights";

void add_meta(RowDatabase& database, const std::map<std::string, std::string>& rows) {
  RowStatement insert(database.handle(), database.path(), "INSERT INTO meta VALUES (?, ?)");
  for (const auto& [name, value] : rows) {
    insert.bind(1, name);
    insert.bind(2, value);
    insert.step();
    insert.reset();
  }
}

/// Makes the tables and begins the transaction in which all rows are written.
void make_tables(RowDatabase& database, const IndexSettings& settings) {
  // The folder is temporary until the index is complete, so a journal would protect nothing.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; BEGIN");
  database.execute(meta_table);
  database.execute(document_table);
  database.execute(settings.stemming ? stemmed_words : plain_words);
  add_meta(database, {{"format", format_number},
                      {"stemming", yes_or_no(settings.stemming)},
                      {"stop_words", yes_or_no(settings.stop_words)},
                      {"sqlite", sqlite3_libversion()}});
}

RowDatabase& with_tables(RowDatabase& database, const IndexSettings& settings) {
  make_tables(database, settings);
  return database;
}

}  // namespace

RowWriter::RowWriter(const std::filesystem::path& file, const IndexSettings& settings)
    : database_(file, RowDatabase::Mode::create),
      insert_(with_tables(database_, settings).handle(), file, "INSERT INTO document VALUES (?, ?, ?)"),
      insert_words_(database_.handle(), file, "INSERT INTO words (rowid, text) VALUES (?, ?)") {}

void RowWriter::add(const IndexedDocument& document) {
  insert_.bind(1, next_);
  insert_.bind(2, document.id);
  insert_.bind(3, document.text);
  insert_.step();
  insert_.reset();
  insert_words_.bind(1, next_);
  insert_words_.bind(2, document.text);
  insert_words_.step();
  insert_words_.reset();
  ++next_;
}

void RowWriter::record_encoder(const IndexEncoder& encoder) {
  add_meta(database_, {{encoder_run, encoder.run}, {encoder_weights, encoder.weights}});
}

void RowWriter::finish() {
  database_.execute("INSERT INTO words (words) VALUES ('optimize'); COMMIT");
}

// --- reading ---

namespace {

/// Throws Error unless the tables are those of an index, so that no view or trigger of another person runs.
/// Returns the connection.
sqlite3* with_own_schema(const RowDatabase& database) {
  // Tables whose name begins with "words_" belong to FTS5, which checks them itself.
  RowStatement rows(database.handle(), database.path(),
                    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND "
                    "NOT (type = 'table' AND name GLOB 'words_*')");
  std::set<std::string> found;
  while (rows.step()) found.insert(rows.text(0));
  for (const char* words : {plain_words, stemmed_words})
    if (found == std::set<std::string>{meta_table, document_table, words}) return database.handle();
  throw Error(database.path().string() + " is damaged: its tables are not those of an index");
}

}  // namespace

RowStore::RowStore(const std::filesystem::path& file)
    : database_(file, RowDatabase::Mode::read),
      id_(with_own_schema(database_), file, "SELECT id FROM document WHERE position = ?"),
      text_(database_.handle(), file, "SELECT text FROM document WHERE position = ?"),
      find_(database_.handle(), file, "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?") {
  for (RowStatement rows(database_.handle(), file, "SELECT name, value FROM meta"); rows.step();)
    meta_[rows.text(0)] = rows.text(1);
  if (meta_["format"] != format_number)
    throw Error(file.string() + ": expected an index of format " + format_number + ", found format \"" +
                meta_["format"] + "\"; build the index again");
  settings_ = {.stemming = meta_["stemming"] == "yes", .stop_words = meta_["stop_words"] == "yes"};
  RowStatement count(database_.handle(), file, "SELECT count(*), coalesce(max(position), -1) FROM document");
  count.step();
  size_ = static_cast<std::size_t>(count.integer(0));
  if (count.integer(1) + 1 != count.integer(0))
    throw Error(file.string() + " is damaged: its documents are not numbered from 0");
}

std::optional<IndexEncoder> RowStore::encoder() const {
  const auto run = meta_.find(encoder_run), weights = meta_.find(encoder_weights);
  if (run == meta_.end() || weights == meta_.end()) return std::nullopt;
  return IndexEncoder{.run = run->second, .weights = weights->second};
}

std::string RowStore::sqlite_version() const {
  const auto version = meta_.find("sqlite");
  return version == meta_.end() ? "" : version->second;
}

std::string RowStore::value(RowStatement& statement, std::size_t position) {
  statement.reset();
  statement.bind(1, static_cast<std::int64_t>(position));
  const std::string text = statement.step() ? statement.text(0) : std::string();
  statement.reset();
  return text;
}

std::string RowStore::id(std::size_t position) {
  return value(id_, position);
}

std::string RowStore::text(std::size_t position) {
  return value(text_, position);
}

std::vector<IndexHit> RowStore::find(std::string_view query, std::size_t depth) {
  const std::string expression = match_expression(words_of_query(query, settings_.stop_words));
  if (expression.empty()) return {};
  BestHits best(depth);
  find_.reset();
  find_.bind(1, expression);
  // SQLite's own ORDER BY would sort all matching rows.
  while (find_.step())
    best.add({.position = static_cast<std::size_t>(find_.integer(0)), .score = -find_.number(1)});
  find_.reset();
  return std::move(best).sorted();
}

}  // namespace encore::index

std::string encore::index_engine() {
  return std::string("SQLite ") + sqlite3_libversion();
}
