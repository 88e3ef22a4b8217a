// SPDX-License-Identifier: BSD-3-Clause
// runs_where(): finds the names in the text after --where, builds a query from it, runs it on a read-only
// connection, and makes error messages point into the text. Names of settings and measures need no quotes:
// model.dropout and test/f1 are read as one name if a run has such a column; other words are left to SQL. The
// text is untrusted: it must not be able to write, or to read another file. Read selection.hpp first.
#include "store/selection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/nearest.hpp"
#include "store/run_columns.hpp"

namespace encore::store {

namespace {

/// A name in the condition: a word, words joined by . or /, or anything in "", `` or []. A text in single
/// quotes is a value.
struct Name {
  std::size_t begin = 0, end = 0;
  std::string text;
};

[[noreturn]] void fail(const std::string& text, std::size_t at, const std::string& message) {
  at = std::min(at, text.size());
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  const std::string line = text.substr(first, text.find('\n', first) - first);
  // Writes one blank for each letter before the position, not each byte, so that the mark is below the
  // letter.
  const auto letters = std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at - first),
                                     [](char byte) { return (byte & 0xc0) != 0x80; });
  throw ConditionError("--where: " + message + "\n  " + line + "\n  " +
                       std::string(static_cast<std::size_t>(letters), ' ') + "^");
}

/// Finds the names in a condition. Throws ConditionError if the text is not one condition: unclosed
/// parentheses or quotes, several statements, parameters such as ?1.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<Name> names() {
    while (at_ < text_.size()) read();
    if (!open_.empty()) fail(text_, open_.back(), "this parenthesis is not closed");
    return std::move(names_);
  }

 private:
  static bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool is_part(char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
  char next(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void read() {
    const char c = text_[at_];
    if (c == '\'' || c == '"' || c == '`' || c == '[') return quoted(c == '[' ? ']' : c);
    if (c == '-' && next() == '-') return skip_to("\n", false);
    if (c == '/' && next() == '*') return skip_to("*/", true);
    if (is_letter(c)) return word();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    if (c == ';') fail(text_, at_, "a condition is one expression, without a semicolon");
    if (c == '?' || c == ':' || c == '@' || c == '$' || c == '#')
      fail(text_, at_, std::string("\"") + c + "\" has no meaning here; write the value itself");
    if (c == '(') open_.push_back(at_);
    if (c == ')') {
      if (open_.empty()) fail(text_, at_, "this parenthesis closes nothing");
      open_.pop_back();
    }
    ++at_;
  }

  void quoted(char closing) {
    const std::size_t begin = at_;
    std::string content;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) fail(text_, begin, "this quote is not closed");
      if (text_[at_] == closing && (closing == ']' || next() != closing)) break;
      if (text_[at_] == closing) ++at_;  // a doubled quote is part of the string
      content += text_[at_];
    }
    ++at_;
    if (closing != '\'') names_.push_back({begin, at_, content});
  }

  void skip_to(const std::string& end, bool required) {
    const std::size_t found = text_.find(end, at_ + 2);
    if (found == std::string::npos && required) fail(text_, at_, "this comment is not closed");
    at_ = found == std::string::npos ? text_.size() : found + end.size();
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_part(text_[at_]) || ((text_[at_] == '.' || text_[at_] == '/') && is_letter(next()))))
      ++at_;
    names_.push_back({begin, at_, text_.substr(begin, at_ - begin)});
  }

  void number() {
    while (at_ < text_.size() && (is_part(text_[at_]) || text_[at_] == '.')) ++at_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  std::vector<Name> names_;
};

/// The query in SQL, with the position in the condition for each of its bytes.
struct Question {
  std::string sql;
  std::vector<std::size_t> place;  ///< of each byte of sql
};

void add(Question& question, const std::string& sql, std::size_t place) {
  question.sql += sql;
  question.place.resize(question.sql.size(), place);
}

Question question_of(const std::string& condition, const std::vector<Name>& names, RunColumns& columns) {
  std::vector<std::string> used;
  std::string selected = "SELECT run.number AS number";
  for (const RunField& field : run_fields()) used.emplace_back(field.name);
  for (const Name& name : names)
    if (std::find(used.begin(), used.end(), name.text) == used.end() && columns.expression(name.text))
      used.push_back(name.text);
  // SQLite flattens the inner query into the outer one, so it does not compute unused columns.
  for (const std::string& name : used) selected += ", " + *columns.expression(name) + " AS " + sql_name(name);
  Question question;
  add(question, "SELECT number FROM (" + selected + " FROM run) WHERE (", 0);
  std::size_t at = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; at < end; ++at) add(question, condition.substr(at, 1), at);
  };
  for (const Name& name : names) {
    if (name.text.find_first_of("./") == std::string::npos ||
        std::find(used.begin(), used.end(), name.text) == used.end())
      continue;
    copy_to(name.begin);
    add(question, sql_name(name.text), name.begin);
    at = name.end;
  }
  copy_to(condition.size());
  add(question, "\n)", condition.size());  // a new line, in case the condition ends with a comment
  return question;
}

/// Authorizer of SQLite: a condition may only read tables and call functions.
int allow_reading(void*, int action, const char*, const char* name, const char*, const char*) {
  if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE) return SQLITE_OK;
  const bool loads = name != nullptr && std::string_view(name) == "load_extension";
  return action == SQLITE_FUNCTION && !loads ? SQLITE_OK : SQLITE_DENY;
}

/// Returns `message` and, if a name is at `place` of the condition, the most similar known name.
std::string suggestion_at(std::size_t place, const std::string& message, const std::vector<Name>& names,
                          RunColumns& columns) {
  const std::string otherwise =
      message.starts_with("no such column") ? "; docs/guides/selecting_runs.md lists the columns" : "";
  for (const Name& name : names)
    if (name.begin <= place && place < name.end) return did_you_mean(name.text, columns.names(), otherwise);
  return "";
}

using Prepared = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

Prepared prepare(Database& database, const Question& question, const std::string& condition,
                 const std::vector<Name>& names, RunColumns& columns) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), question.sql.c_str(), -1, &statement, nullptr);
  if (code == SQLITE_OK) return {statement, sqlite3_finalize};
  if ((code & 0xff) == SQLITE_AUTH) fail(condition, 0, "a condition can only read");
  if ((code & 0xff) != SQLITE_ERROR) database.fail(code, "read");
  const std::string message = sqlite3_errmsg(database.handle());
  const int offset = sqlite3_error_offset(database.handle());
  if (offset < 0) fail(condition, 0, message);
  const std::size_t place =
      question.place[std::min(static_cast<std::size_t>(offset), question.place.size() - 1)];
  if (place >= condition.size()) fail(condition, place, "the condition is incomplete");
  fail(condition, place, message + suggestion_at(place, message, names, columns));
}

}  // namespace

std::vector<std::int64_t> runs_where(Store& store, const std::string& condition) {
  if (condition.find_first_not_of(" \t\r\n") == std::string::npos)
    throw ConditionError("--where is empty; write a condition such as --where \"model.dropout > 0.1\"");
  RunColumns columns(store);
  const std::vector<Name> names = Reader(condition).names();
  const Question question = question_of(condition, names, columns);
  const auto database = open_encore_database(store.path(), OpenMode::read);
  database->execute("PRAGMA query_only = ON");
  // SQLite makes the table of json_each at its first use, and measures need it. The authorizer would refuse
  // that later.
  database->execute("SELECT 1 FROM json_each('[]')");
  // Otherwise SQLite would read an unknown name in double quotes as a string, and the condition would be
  // false without an error.
  sqlite3_db_config(database->handle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_set_authorizer(database->handle(), allow_reading, nullptr);
  const Prepared statement = prepare(*database, question, condition, names, columns);
  std::vector<std::int64_t> numbers;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW)
    numbers.push_back(sqlite3_column_int64(statement.get(), 0));
  if (code == SQLITE_DONE) return numbers;
  if ((code & 0xff) != SQLITE_ERROR) database->fail(code, "read");
  fail(condition, 0, sqlite3_errmsg(database->handle()));
}

}  // namespace encore::store
