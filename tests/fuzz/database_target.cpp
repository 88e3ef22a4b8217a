// Databases whose values somebody has changed: any column of any row holds any type, as in a file whose
// schema was written without STRICT and CHECK. An input is SQL that is executed on a small database; then one
// verb of exp reads it.
#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "cli/verbs.hpp"
#include "fuzz/runs.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

struct Column {
  std::string table, name;
  std::vector<std::string> values;  ///< those that stand there, as text
};

std::string sql_text(const std::string& text) {
  std::string quoted = "CAST(x'";
  constexpr const char* digits = "0123456789abcdef";
  for (const char letter : text) {
    quoted += digits[static_cast<unsigned char>(letter) >> 4];
    quoted += digits[static_cast<unsigned char>(letter) & 15];
  }
  return quoted + "' AS TEXT)";
}

const Words& sql_values() {
  static const Words list = {"NULL",
                             "0",
                             "-1",
                             "1",
                             "2",
                             "0.5",
                             "-0.0",
                             "9e999",
                             "-9e999",
                             "1e-320",
                             "9223372036854775807",
                             "-9223372036854775808",
                             "x''",
                             "x'00ff10'",
                             "zeroblob(5000)",
                             "''",
                             "'text'",
                             "'{}'",
                             "'[]'",
                             "'null'",
                             "'running'",
                             "'completed'",
                             "'failed'",
                             "'../../etc'",
                             "char(10,27,91,51,49,109)",
                             "char(0)",
                             "printf('%.*c', 3000, 'x')"};
  return list;
}

/// Runs SQL past everything that Encore sees to. Statements that SQLite refuses are skipped.
void change(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle,
               "PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY",
               nullptr, nullptr, nullptr);
  const char* next = sql.c_str();
  while (*next != '\0') {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle, next, -1, &statement, &next) != SQLITE_OK) break;
    if (statement == nullptr) break;
    while (sqlite3_step(statement) == SQLITE_ROW) {
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(handle);
}

/// Columns take any type from then on.
constexpr const char* loosen =
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') "
    "STRICT', ')'), "
    "'NOT NULL', '') WHERE type = 'table';";

class DatabaseTarget final : public Target {
 public:
  std::string name() const override { return "database"; }

  std::vector<std::string> corpus() override {
    Runs runs;
    for (const std::int64_t seed : {1, 2})
      for (const double dropout : {0.1, 0.3})
        runs.tell({.name = dropout < 0.2 ? "net-dropout=0.1" : "net-dropout=0.3",
                   .seed = seed,
                   .measures = {{"test/f1", dropout + 0.01 * static_cast<double>(seed)}, {"dev/f1", 0.5}},
                   .dropout = dropout});
    runs.tell({.name = "other", .measures = nullptr, .state = RunState::failed, .reason = "why"});
    leave_one_file(runs.store().database());
    bytes_ = read_bytes(runs.path());
    write_bytes(path_, bytes_);
    change(path_, loosen);
    bytes_ = read_bytes(path_);
    read_columns();
    return {"-- ls\n", "-- show\n"};
  }

  void mutate(std::string& input, const std::vector<std::string>&, Random& random) override {
    input = "-- " + random.any_of(questions_names()) + "\n";
    for (std::size_t changes = 1 + random.below(6); changes > 0; --changes) {
      const Column& column = random.any_of(columns_);
      input += "UPDATE OR REPLACE \"" + column.table + "\" SET \"" + column.name +
               "\" = " + new_value(column, random);
      if (!random.once_in(4))
        input += " WHERE CAST(\"" + column.name + "\" AS TEXT) = " + sql_text(random.any_of(column.values));
      input += ";\n";
    }
  }

  void take(const std::string& input) override {
    write_bytes(path_, bytes_);
    change(path_, input);
    const std::string question = input.substr(3, input.find('\n') - 3);
    for (const auto& [name, arguments] : questions()) {
      if (name != question) continue;
      Arguments all(arguments.begin() + 1, arguments.end());
      all.insert(all.end(), {"--db", path_.string()});
      find_verb(arguments.front()).run(all);
    }
  }

 private:
  static const std::vector<std::pair<std::string, Arguments>>& questions() {
    static const std::vector<std::pair<std::string, Arguments>> list = {
        {"ls", {"ls"}},
        {"ls json", {"ls", "--json"}},
        {"show", {"show", "net-dropout=0.1-seed=1"}},
        {"show json", {"show", "net-dropout=0.1-seed=1", "--json"}},
        {"status", {"status"}},
        {"logs", {"logs", "net-dropout=0.1-seed=1"}},
        {"diff", {"diff", "net-dropout=0.1-seed=1", "net-dropout=0.3-seed=1"}},
        {"explain", {"explain", "net-dropout=0.1-seed=1"}},
        {"compare", {"compare", "net"}},
        {"compare json", {"compare", "net", "--json"}},
        {"dump", {"dump", "all", "--json"}},
        {"query", {"query", "SELECT * FROM run_status"}},
        {"check", {"db", "check"}},
        {"report html", {"report", "all", "--format", "html"}},
        {"report json", {"report", "all", "--format", "json"}},
        {"report tex", {"report", "all", "--format", "tex"}},
    };
    return list;
  }

  static const std::vector<std::string>& questions_names() {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> all;
      for (const auto& question : questions()) {
        // A report takes as long as fifty lists.
        const int weight = question.first.starts_with("report") ? 1 : 8;
        all.insert(all.end(), static_cast<std::size_t>(weight), question.first);
      }
      return all;
    }();
    return names;
  }

  void read_columns() {
    Database database(path_, SQLITE_OPEN_READONLY, {});
    Statement names(database,
                    "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
                    "WHERE m.type = 'table' ORDER BY 1, 2");
    while (names.step()) {
      Column column{names.text(0), names.text(1), {}, {}};
      Statement rows(database,
                     "SELECT DISTINCT \"" + column.name + "\" FROM \"" + column.table + "\" LIMIT 8");
      while (rows.step()) column.values.push_back(rows.text(0));
      if (!column.values.empty()) columns_.push_back(std::move(column));
    }
  }

  static std::string new_value(const Column& column, Random& random) {
    if (random.once_in(2)) return random.any_of(sql_values());
    std::string value = random.any_of(column.values);
    if (value.starts_with('{') || value.starts_with('['))
      mutate_json(value, random);
    else
      mutate_bytes(value, json_words(), column.values, random);
    return sql_text(value);
  }

  Scratch folder_;
  std::filesystem::path path_ = folder_ / "encore.db";
  std::string bytes_;
  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<Target> make_database_target() {
  return std::make_unique<DatabaseTarget>();
}

}  // namespace encore::fuzz
