// SPDX-License-Identifier: BSD-3-Clause
// The tables of index.db and the queries on them. FTS5 keeps the words only; it reads the text from the table
// of documents (an external content table). The tokenizer unicode61 removes diacritics; porter before it
// makes stems. Read row_store.hpp first; query_words.cpp finds the words of a query.
#include "index/row_store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

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
// The tables of an index of passages.
constexpr const char* id_table =
    "CREATE TABLE document (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)";
constexpr const char* passage_table =
    "CREATE TABLE passage (position INTEGER PRIMARY KEY, document INTEGER NOT NULL, text TEXT NOT NULL)";
constexpr const char* plain_passage_words =
    "CREATE VIRTUAL TABLE words USING fts5(text, content='passage', content_rowid='position', "
    "tokenize='unicode61 remove_diacritics 2')";
constexpr const char* stemmed_passage_words =
    "CREATE VIRTUAL TABLE words USING fts5(text, content='passage', content_rowid='position', "
    "tokenize='porter unicode61 remove_diacritics 2')";

/// The number of the format: 1 for whole documents, as in the first version, 2 for passages.
const char* format_number(bool has_passages) {
  return has_passages ? "2" : "1";
}

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
  static bool is_better(const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  }
  std::vector<IndexHit> sorted() && {
    std::ranges::sort_heap(hits_, is_better);
    return std::move(hits_);
  }

 private:
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
constexpr const char* passage_words = "passage_words";
constexpr const char* passage_overlap = "passage_overlap";

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
void make_tables(RowDatabase& database, const IndexSettings& settings, const PassageSettings& passages) {
  const bool has_passages = passages.words > 0;
  // The folder is temporary until the index is complete, so a journal would protect nothing.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; BEGIN");
  database.execute(meta_table);
  if (has_passages) {
    database.execute(id_table);
    database.execute(passage_table);
    database.execute(settings.stemming ? stemmed_passage_words : plain_passage_words);
    add_meta(database, {{passage_words, std::to_string(passages.words)},
                        {passage_overlap, std::to_string(passages.overlap)}});
  } else {
    database.execute(document_table);
    database.execute(settings.stemming ? stemmed_words : plain_words);
  }
  add_meta(database, {{"format", format_number(has_passages)},
                      {"stemming", yes_or_no(settings.stemming)},
                      {"stop_words", yes_or_no(settings.stop_words)},
                      {"sqlite", sqlite3_libversion()}});
}

RowDatabase& with_tables(RowDatabase& database, const IndexSettings& settings,
                         const PassageSettings& passages) {
  make_tables(database, settings, passages);
  return database;
}

}  // namespace

RowWriter::RowWriter(const std::filesystem::path& file, const IndexSettings& settings,
                     const PassageSettings& passages)
    : database_(file, RowDatabase::Mode::create),
      has_passages_(passages.words > 0),
      insert_document_(
          with_tables(database_, settings, passages).handle(), file,
          has_passages_ ? "INSERT INTO document VALUES (?, ?)" : "INSERT INTO document VALUES (?, ?, ?)"),
      insert_words_(database_.handle(), file, "INSERT INTO words (rowid, text) VALUES (?, ?)") {
  if (has_passages_)
    insert_passage_.emplace(database_.handle(), file, "INSERT INTO passage VALUES (?, ?, ?)");
}

void RowWriter::add(const IndexedDocument& document) {
  if (!has_passages_ || documents_ == 0 || document.id != last_id_) {
    insert_document_.bind(1, documents_++);
    insert_document_.bind(2, document.id);
    if (!has_passages_) insert_document_.bind(3, document.text);
    insert_document_.step();
    insert_document_.reset();
    last_id_ = document.id;
  }
  if (insert_passage_) {
    insert_passage_->bind(1, next_);
    insert_passage_->bind(2, documents_ - 1);
    insert_passage_->bind(3, document.text);
    insert_passage_->step();
    insert_passage_->reset();
  }
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
/// Returns whether they are those of an index of passages.
bool schema_has_passages(const RowDatabase& database) {
  // Tables whose name begins with "words_" belong to FTS5, which checks them itself.
  RowStatement rows(database.handle(), database.path(),
                    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND "
                    "NOT (type = 'table' AND name GLOB 'words_*')");
  std::set<std::string> found;
  while (rows.step()) found.insert(rows.text(0));
  for (const char* words : {plain_words, stemmed_words})
    if (found == std::set<std::string>{meta_table, document_table, words}) return false;
  for (const char* words : {plain_passage_words, stemmed_passage_words})
    if (found == std::set<std::string>{meta_table, id_table, passage_table, words}) return true;
  throw Error(database.path().string() + " is damaged: its tables are not those of an index");
}

/// Returns 0 for a text that is not a number.
std::size_t number_in(const std::string& text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

RowStore::RowStore(const std::filesystem::path& file)
    : database_(file, RowDatabase::Mode::read),
      has_passages_(schema_has_passages(database_)),
      id_(database_.handle(), file, "SELECT id FROM document WHERE position = ?"),
      text_(database_.handle(), file,
            has_passages_ ? "SELECT text FROM passage WHERE position = ?"
                          : "SELECT text FROM document WHERE position = ?"),
      find_(database_.handle(), file, "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?") {
  for (RowStatement rows(database_.handle(), file, "SELECT name, value FROM meta"); rows.step();)
    meta_[rows.text(0)] = rows.text(1);
  if (meta_["format"] != format_number(has_passages_))
    throw Error(file.string() + ": expected an index of format " + format_number(has_passages_) +
                ", found format \"" + meta_["format"] + "\"; build the index again");
  settings_ = {.stemming = meta_["stemming"] == "yes", .stop_words = meta_["stop_words"] == "yes"};
  RowStatement count(database_.handle(), file, "SELECT count(*), coalesce(max(position), -1) FROM document");
  count.step();
  size_ = static_cast<std::size_t>(count.integer(0));
  if (count.integer(1) + 1 != count.integer(0))
    throw Error(file.string() + " is damaged: its documents are not numbered from 0");
  if (has_passages_) read_passages();
}

void RowStore::read_passages() {
  passages_ = {.words = number_in(meta_[passage_words]), .overlap = number_in(meta_[passage_overlap])};
  const auto damaged = [&](const std::string& problem) {
    throw Error(database_.path().string() + " is damaged: " + problem);
  };
  if (passages_.words == 0) damaged("it does not say how many words a passage has");
  RowStatement rows(database_.handle(), database_.path(),
                    "SELECT position, document FROM passage ORDER BY position");
  while (rows.step()) {
    const std::int64_t passage = rows.integer(0), document = rows.integer(1);
    if (passage != static_cast<std::int64_t>(document_of_.size()))
      damaged("its passages are not numbered from 0");
    if (document == static_cast<std::int64_t>(first_passage_.size()))
      first_passage_.push_back(document_of_.size());
    else if (document + 1 != static_cast<std::int64_t>(first_passage_.size()))
      damaged("its passages are not in the order of its documents");
    document_of_.push_back(static_cast<std::uint32_t>(document));
  }
  if (first_passage_.size() != size_) damaged("a document has no passage");
  first_passage_.push_back(document_of_.size());
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

std::string RowStore::text(std::size_t passage) {
  return value(text_, passage);
}

std::vector<IndexHit> RowStore::find(std::string_view query, std::size_t depth) {
  const std::string expression = match_expression(words_of_query(query, settings_.stop_words));
  if (expression.empty()) return {};
  BestHits best(depth);
  std::unordered_map<std::size_t, IndexHit> best_passages;  // by document
  find_.reset();
  find_.bind(1, expression);
  // SQLite's own ORDER BY would sort all matching rows.
  while (find_.step()) {
    const IndexHit hit{.position = static_cast<std::size_t>(find_.integer(0)), .score = -find_.number(1)};
    if (!has_passages_) {
      best.add(hit);
    } else if (hit.position < document_of_.size()) {
      const auto [known, is_new] = best_passages.emplace(document_of_[hit.position], hit);
      if (!is_new && BestHits::is_better(hit, known->second)) known->second = hit;
    }
  }
  find_.reset();
  for (const auto& [document, hit] : best_passages) best.add(hit);  // their order has no influence
  return std::move(best).sorted();
}

}  // namespace encore::index

std::string encore::index_engine() {
  return std::string("SQLite ") + sqlite3_libversion();
}
