// SPDX-License-Identifier: BSD-3-Clause
// exp query: prints the rows of one SQL query as a table, CSV or JSON, row by row if the format allows it, so
// that large results need little memory. app/query.cpp runs the query, which may only read the database;
// help_verb.cpp lists the verb.
#include "app/query.hpp"

#include <algorithm>

#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using Row = std::vector<Json>;

Names strings_of(const Row& row) {
  Names strings;
  for (const Json& value : row)
    strings.push_back(value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump());
  return strings;
}

/// Returns the names of columns with "_2" and so on behind repeated ones, because an object of JSON keeps
/// only one member of each name.
Names different(const Names& names) {
  Names all;
  for (const std::string& name : names) {
    std::string unused = name;
    for (int number = 2; std::ranges::find(all, unused) != all.end(); ++number)
      unused = name + "_" + std::to_string(number);
    all.push_back(unused);
  }
  return all;
}

void write_json(const app::QueryRequest& request, const app::App& app, std::ostream& out) {
  Names columns;
  const char* between = "\n";
  app::answer_query(request, app,
                    {.begin =
                         [&](const Names& names) {
                           columns = different(names);
                           out << '[';
                         },
                     .row =
                         [&](const Row& row) {
                           Json object = Json::object();
                           for (std::size_t i = 0; i < row.size(); ++i) object[columns[i]] = row[i];
                           // Text in the database need not be UTF-8; JSON must be.
                           out << between << object.dump(-1, ' ', false, Json::error_handler_t::replace);
                           between = ",\n";
                         }});
  out << "\n]\n";
}

void write_table(const app::QueryRequest& request, const app::App& app, Console& console) {
  Names columns;
  std::vector<Row> rows;
  app::answer_query(request, app,
                    {.begin = [&](const Names& names) { columns = names; },
                     .row = [&](const Row& row) { rows.push_back(row); }});
  std::vector<TableColumn> titles;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    bool numeric = !rows.empty();
    for (const Row& row : rows) numeric = numeric && row[column].is_number();
    titles.push_back({columns[column], numeric ? Align::right : Align::left});
  }
  Table table(titles);
  for (const Row& row : rows) {
    const Names strings = strings_of(row);
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(row[i].is_null() ? Cell("NULL", Style::dim) : Cell(strings[i]));
    table.add(std::move(cells));
  }
  table.print(console.out, console.terminal);
}

int query_verb(const app::QueryRequest& request, app::App& app, Console& console) {
  if (request.csv)
    app::answer_query(request, app,
                      {.begin = [&](const Names& names) { console.out << document::csv_record(names); },
                       .row = [&](const Row& row) { console.out << document::csv_record(strings_of(row)); }});
  else if (request.json)
    write_json(request, app, console.out);
  else
    write_table(request, app, console);
  return exit_done;
}

}  // namespace

Verb query_verb() {
  return make_verb("query", "query the database in SQL", app::query_form, query_verb);
}

}  // namespace encore::cli
