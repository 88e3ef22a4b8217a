// SPDX-License-Identifier: BSD-3-Clause
// survey(): chooses the columns and counts what the reader gives. worker/survey_verb.cpp calls it. The reader
// leaves invalid rows out, which are counted; a file in which they are many is refused with the reader's own
// message. Read survey.hpp first.
#include "survey/survey.hpp"

#include <algorithm>
#include <vector>

#include <encore/error.hpp>

#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "survey/columns.hpp"
#include "survey/file_form.hpp"

namespace encore::survey {
namespace {

constexpr double most_invalid = 0.2;  ///< share of the rows
constexpr std::size_t megabyte = 1'000'000;

/// Returns the column that the user named. Throws Error with the nearest name.
record::ChosenColumn named_column(const std::string& file, const std::vector<record::SurveyedColumn>& columns,
                                  const std::string& name, const std::string& option) {
  std::vector<std::string> names;
  for (const record::SurveyedColumn& column : columns) names.push_back(column.name);
  if (std::ranges::find(names, name) == names.end())
    throw Error(file + ": unknown column \"" + name + "\" (" + option + ")" +
                did_you_mean(name, names, "; the file has " + quoted_list(names)));
  return {.name = name, .why = "named by " + option, .candidates = {name}};
}

Options reader_options(const record::SurveyAnswer& answer) {
  Options options;
  const bool is_json = answer.reader == "jsonl";
  options.set(is_json ? "text_key" : "text_column", answer.text.name);
  options.set(is_json ? "label_key" : "label_column", answer.label.name);
  options.set("bad_rows", std::string("skip"));
  if (is_json) return options;
  options.set("delimiter", answer.delimiter);
  options.set("header", answer.header);
  return options;
}

/// Throws the reader's message about the invalid rows, with a remedy for a file in which they are many.
[[noreturn]] void refuse_rows(const Reader& reader, const InputText& file) {
  std::string rows = file.name + ": most rows cannot be read";
  try {
    static_cast<void>(reader.read({&file, 1}, "file"));
  } catch (const Error& error) {
    rows = error.what();
    rows = rows.substr(0, rows.find("\ncorrect them"));  // its remedy leaves the rows out
  }
  throw Error(rows +
              "\nmore than a fifth of the rows cannot be read: correct them, or name other columns with " +
              "--text and --label");
}

/// Reads a file as a run does, without its invalid rows. Throws the reader's message about all of them if
/// they are many.
Records read(const InputText& file, const record::SurveyAnswer& answer, std::int64_t rows,
             const MakeReader& make_reader) {
  Options options = reader_options(answer);
  const std::string what = "file";
  Records records = make_reader(answer.reader, options)->read({&file, 1}, what);
  const auto invalid = static_cast<double>(rows) - static_cast<double>(records.size());
  if (invalid > most_invalid * static_cast<double>(rows)) {
    options.set("bad_rows", std::string("error"));
    refuse_rows(*make_reader(answer.reader, options), file);
  }
  return records;
}

void add_invalid(record::SurveyedRecords& found, const Records& records, std::int64_t rows) {
  found.invalid = std::max<std::int64_t>(0, rows - std::ssize(records.texts("text")));
  if (found.invalid > 0 && !records.notes.empty()) found.first_invalid = records.notes.back();
}

}  // namespace

record::SurveyAnswer survey(const record::SurveyRequest& request, const InputText& file,
                            const InputText& test, const MakeReader& make_reader, const Progress& progress) {
  const auto watch = [&](const InputText& of) {
    return [&](std::size_t bytes) { progress("read", "MB", bytes / megabyte, of.text.size() / megabyte); };
  };
  const FileForm form = form_of(file, request.header);
  record::SurveyAnswer answer{
      .reader = form.reader(), .delimiter = form.delimiter_text(), .header = form.header && !form.is_json};
  SurveyedColumns columns = columns_of(file, form, watch(file));
  answer.rows = columns.rows;
  answer.columns = std::move(columns.columns);
  answer.text = request.text.empty() ? choose_text(answer.columns)
                                     : named_column(file.name, answer.columns, request.text, "--text");
  answer.label = request.label.empty() ? choose_label(answer.columns, answer.text.name)
                                       : named_column(file.name, answer.columns, request.label, "--label");
  if (answer.text.name.empty() || answer.label.name.empty()) return answer;
  const Records records = read(file, answer, answer.rows, make_reader);
  progress("counted", "records", 0, records.size());
  answer.found = count_records(records);
  add_invalid(*answer.found, records, answer.rows);
  if (!request.test.empty()) {
    const SurveyedColumns of_test = columns_of(test, form, watch(test));
    for (const auto* column : {&answer.text, &answer.label})
      named_column(test.name, of_test.columns, column->name, "as in " + file.name);
    const Records test_records = read(test, answer, of_test.rows, make_reader);
    answer.test = compare_with_test(records, test_records);
    add_invalid(answer.test->found, test_records, of_test.rows);
  }
  return answer;
}

}  // namespace encore::survey
