// SPDX-License-Identifier: BSD-3-Clause
// The reader "tsv": reads records from the rows of a table, and reports all invalid rows at once.
// tsv_plugin.cpp registers it. The worker calls read() for data sets (tasks/read_set.cpp) and the other
// functions for `exp predict`. Runs repeat only if equal files give equal records. Read tsv.hpp first.
#include "tsv.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <encore/separated_rows.hpp>

#include "line_checks.hpp"
#include "line_text.hpp"
#include "marked_spans.hpp"
#include "row_problems.hpp"

namespace encore::tsv {
namespace {

char delimiter_of(const Options& options) {
  const std::string& text = options.text("delimiter");
  if (text == "tab" || text == "\t") return '\t';
  if (text.size() == 1 && std::ispunct(static_cast<unsigned char>(text.front())) != 0 && text != "\"")
    return text.front();
  throw OptionError("delimiter",
                    "invalid delimiter = \"" + text +
                        "\": expected \"tab\", or one character that is not a letter, digit, blank or "
                        "quotation mark");
}

LabelType label_type_of(const Options& options) {
  const std::string& type = options.text("label_type");
  return type == "list" ? LabelType::list : type == "number" ? LabelType::number : LabelType::text;
}

/// Throws OptionError if options of a single text are set together with those of a source and its target.
void require_pair_options(const Options& options) {
  for (const char* option : {"source_column", "target_column"})
    if (options.text(option).empty())
      throw OptionError(option, std::string(option) +
                                    " is missing: a source and its target need both source_column and "
                                    "target_column");
  const char* other = !options.text("text2_column").empty()  ? "text2_column"
                      : options.text("label_type") != "text" ? "label_type"
                      : options.flag("marked_spans")         ? "marked_spans"
                                                             : nullptr;
  if (other != nullptr)
    throw OptionError(other,
                      std::string(other) +
                          " is for a text with a label, but source_column makes each row a source and its "
                          "target: remove one of the two");
}

std::string shortest(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

/// Reads a list in the form of Python or JSON, ['joy', 'love'], or one name in quotation marks. Returns the
/// names joined without brackets and quotation marks, or nothing for other values. [A],[B] is not such a
/// list.
std::optional<std::string> plain_list(std::string_view value, const std::string& separator) {
  const auto is_quote = [](char letter) { return letter == '\'' || letter == '"'; };
  std::string_view inside = trimmed(value);
  const bool in_brackets =
      inside.size() >= 2 && std::string_view("[({").find(inside.front()) < 3 &&
      std::string_view("])}").find(inside.back()) == std::string_view("[({").find(inside.front());
  if (in_brackets) inside = trimmed(inside.substr(1, inside.size() - 2));
  const bool quoted = inside.size() >= 2 && is_quote(inside.front()) && inside.back() == inside.front();
  if (!quoted && !(in_brackets && (inside.empty() || inside.find(separator) != std::string_view::npos)))
    return std::nullopt;
  if (in_brackets && inside.find_first_of("[](){}") != std::string_view::npos) return std::nullopt;
  std::string quoted_names(inside), names;
  std::erase_if(quoted_names, is_quote);
  for (const char letter : quoted_names)
    if (letter != ' ' || !names.ends_with(separator)) names += letter;
  return names;
}

std::string spelled_as_list(const std::string& column, std::string_view value, const std::string& names) {
  return "the label in " + column + " is written as a list of a program: \"" + std::string(value) + "\"; " +
         (names.empty() ? "leave the column empty if there is no label" : "write " + names);
}

/// Returns a heading that is not taken: "predicted_label", or "predicted_label_2".
std::string free_heading(const std::string& field, const std::vector<std::string>& taken) {
  const std::string heading = "predicted_" + field;
  std::string free = heading;
  for (int number = 2; std::ranges::find(taken, free) != taken.end(); ++number)
    free = heading + "_" + std::to_string(number);
  return free;
}

}  // namespace

/// The label of a row, in the form that its type requires.
struct TsvReader::Label {
  std::string text = {};
  std::vector<std::string> list = {};
  double number = 0.0;
};

/// A row that a file of answers repeats: its bytes, and whether it is a heading.
struct KeptRow {
  std::string_view row;
  bool is_heading = false;
};

/// The records read so far, and what is wrong with rows.
struct TsvReader::Taken {
  Records::Texts texts = {}, second_texts = {}, labels = {};
  Records::SpanLists spans = {};
  Records::TextLists lists = {};
  Records::Numbers numbers = {};
  RowProblems problems = {};
  std::int64_t rows = 0;
  std::vector<std::string> notes = {};
  std::vector<KeptRow> kept = {};       ///< only for questions
  std::vector<std::string> names = {};  ///< headings of the last file that has them
};

Schema TsvReader::options() {
  return Schema()
      .boolean("header", false, {.help = "the first line of a file names its columns and is not an example"})
      .text("text_column", "1",
            {.help = "column with the text: its number, counted from 1, or, with header = true, its name"})
      .text("label_column", "2", {.help = "column with the label, as a number or name; \"\": no label"})
      .text("text2_column", "",
            {.help = "column with the second text of a pair, the field \"text2\", as a number or name; \"\": "
                     "no second text"})
      .text("source_column", "",
            {.help = "column with a source, as a number or name; needs target_column. Both give the fields "
                     "\"source\" and \"target\" instead of \"text\" and \"label\""})
      .text("target_column", "",
            {.help = "column with the target of a source, as a number or name; needs source_column"})
      .choice("label_type", "text", {"text", "list", "number"},
              {.help = "text: one label, the field \"label\"; list: several labels, the field \"labels\" "
                       "instead; number: a number, the field \"number\" instead"})
      .boolean("marked_spans", false,
               {.help = "each text marks two spans with `<e1>...</e1>` and `<e2>...</e2>`: remove the marks "
                        "and give the spans as the field \"spans\""})
      .text("label_separator", ",",
            {.help = "separator between the labels of an example, with label_type = \"list\""})
      .text("delimiter", "tab",
            {.help = "separator of the columns: \"tab\", or one punctuation mark such as \",\"; with a "
                     "punctuation mark, values may be in quotation marks (RFC 4180), and with \"tab\" these "
                     "are ordinary characters"})
      .choice("bad_rows", "error", {"error", "skip"},
              {.help = "what to do with invalid rows, such as one with a missing column or an empty text. "
                       "error: refuse the run; skip: skip them and count them in the log (exp logs RUN). "
                       "`exp predict` always refuses a file with invalid rows"});
}

TsvReader::TsvReader(const Options& options, const ReaderContext&)
    : header_(options.flag("header")),
      skips_(options.text("bad_rows") == "skip"),
      marked_(options.flag("marked_spans")),
      delimiter_(delimiter_of(options)),
      separator_(options.text("label_separator")),
      pairs_(!options.text("source_column").empty() || !options.text("target_column").empty()),
      type_(label_type_of(options)) {
  if (pairs_) {
    require_pair_options(options);
    columns_ = {column_of(options, "source_column", "source"), column_of(options, "target_column", "target")};
    second_ = 1;
    require_own_columns(columns_);
    return;
  }
  columns_.push_back(column_of(options, "text_column", "text"));
  if (!options.text("text2_column").empty()) {
    second_ = columns_.size();
    columns_.push_back(column_of(options, "text2_column", "second text"));
  }
  if (!options.text("label_column").empty()) {
    label_ = columns_.size();
    columns_.push_back(column_of(options, "label_column", "label"));
  }
  require_own_columns(columns_);
  const bool is_split = delimiter_ == '\t' && separator_.find('\t') != std::string::npos;
  if (type_ == LabelType::list && (trimmed(separator_).empty() || is_split))
    throw OptionError("label_separator",
                      "invalid label_separator = \"" + separator_ + "\": expected a character such as \",\"");
}

// --- reading ---

std::string TsvReader::delimiter_text() const {
  return delimiter_ == '\t' ? "tabs" : "\"" + std::string(1, delimiter_) + "\"";
}

/// Returns the number of columns that exist if the truth is unknown; the others come after them.
std::size_t TsvReader::question_columns() const {
  return pairs_ ? 1 : columns_.size() - (label_ ? 1 : 0);
}

/// Returns what is wrong with a row, or "". `places` are the columns to be read.
std::string TsvReader::problem_of(const std::vector<std::string_view>& values,
                                  const std::vector<std::size_t>& places, Label& label) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string column = "column " + std::to_string(places[i] + 1);
    if (places[i] >= values.size())
      return "this row has " + counted(std::ssize(values), "column", "columns") + " and no " + column +
             ", which holds the " + columns_[i].holds + "; columns are separated by " + delimiter_text() +
             (values.size() == 1 ? delimiter_remedy(values.front()) : "") +
             (places.size() < columns_.size() ? "; without a " + columns_.back().holds +
                                                    " its column may be empty, or missing behind the others"
                                              : "");
    const std::string_view value = values[places[i]];
    const bool may_be_empty = i == label_ && type_ == LabelType::list;
    if (trimmed(value).empty() && !may_be_empty)
      return "the " + columns_[i].holds + " in " + column + " is empty";
    if (i != label_) continue;
    if (const std::string problem = take_label(value, column, label); !problem.empty()) return problem;
  }
  return "";
}

std::string TsvReader::take_label(std::string_view value, const std::string& column, Label& label) const {
  if (type_ == LabelType::text) {
    label.text = value;
    const bool opens = value.starts_with("['") || value.starts_with("[\"");
    if (const auto names = opens ? plain_list(value, ",") : std::nullopt)
      return spelled_as_list(column, value, *names) + ", and with several labels set label_type = \"list\"";
  } else if (type_ == LabelType::list) {
    label.list.clear();
    if (const auto names = plain_list(value, separator_)) return spelled_as_list(column, value, *names);
    for (std::string_view left = trimmed(value); !left.empty();) {
      const std::size_t end = std::min(left.find(separator_), left.size());
      const std::string_view name = trimmed(left.substr(0, end));
      const bool is_last = end == left.size();
      left.remove_prefix(is_last ? end : end + separator_.size());
      if (name.empty() || (!is_last && trimmed(left).empty()))
        return "the list of labels in " + column + " has an empty place: \"" + std::string(value) + "\"";
      label.list.emplace_back(name);
    }
  } else {
    const std::string_view text = trimmed(value);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), label.number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(label.number))
      return "the label in " + column + " is not a number: \"" + std::string(text) + "\"" +
             (is_label_heading(text) ? "; if the first line names the columns, set header = true" : "");
  }
  return "";
}

/// Returns what is wrong with a first row that contains headings, or "".
std::string TsvReader::problem_of_heading(const std::vector<std::string_view>& values,
                                          const std::vector<std::size_t>& places) const {
  const std::size_t other = places[pairs_ ? 1 : label_.value_or(0)];
  if (other == places[0] || places[0] >= values.size() || other >= values.size()) return "";
  const bool names_other = is_label_heading(values[other]) || (pairs_ && values[other] == "tgt");
  if (!is_text_heading(values[places[0]]) || !names_other) return "";
  return "this row names the columns (\"" + std::string(values[places[0]]) + "\", \"" +
         std::string(values[other]) + "\") and is not an example: set header = true";
}

void TsvReader::read_file(const InputText& file, Sight sight, Taken& taken) const {
  SeparatedRows rows(file.text, delimiter_, delimiter_ != '\t');
  std::vector<std::size_t> all_places;
  for (const Column& column : columns_) all_places.push_back(column.number.value_or(0));
  const bool with_truth = sight == Sight::everything, has_label = with_truth && label_;
  const std::vector<Column> columns(
      columns_.begin(),
      columns_.begin() + static_cast<std::ptrdiff_t>(with_truth ? columns_.size() : question_columns()));
  std::vector<std::size_t> places(all_places.begin(),
                                  all_places.begin() + static_cast<std::ptrdiff_t>(columns.size()));
  std::vector<std::string>& names = taken.names;
  names.clear();
  std::size_t expected = 0;  // number of columns; 0 before the first row
  Label label;
  MarkedText marked;
  while (rows.next()) {
    const std::vector<std::string_view>& values = rows.values();
    if (header_ && names.empty()) {
      if (!rows.problem().empty())
        throw Error(file.name + ":" + std::to_string(rows.line()) + ": " + rows.problem());
      names.assign(values.begin(), values.end());
      if (!with_truth) taken.kept.push_back({.row = rows.row(), .is_heading = true});
      places = places_in(columns, names, file.name + ":" + std::to_string(rows.line()) + ": ");
    } else if (names.empty() || !std::ranges::equal(values, names)) {
      ++taken.rows;
      std::string problem = rows.problem();
      if (problem.empty() && !header_ && expected == 0 && rows.line() == 1 && file.first_line == 1)
        problem = problem_of_heading(values, all_places);
      for (const std::string_view value : values)
        if (problem.empty()) problem = problem_of_length(value);
      if (problem.empty() && expected != 0 && values.size() != expected)
        problem = "this row has " + counted(std::ssize(values), "column", "columns") +
                  ", the rows before it have " + std::to_string(expected) +
                  "; every row needs the same columns";
      if (problem.empty()) problem = problem_of(values, places, label);
      if (problem.empty() && marked_) problem = take_marked(values[places[0]], marked);
      if (!problem.empty()) {
        taken.problems.add(file.name, rows.line(), problem);
        continue;
      }
      taken.texts.push_back(marked_ ? marked.text : std::string(values[places[0]]));
      if (marked_) taken.spans.push_back(marked.spans);
      if (second_ && *second_ < places.size()) taken.second_texts.emplace_back(values[places[*second_]]);
      if (!with_truth) taken.kept.push_back({.row = rows.row()});
      if (has_label && type_ == LabelType::text) taken.labels.push_back(label.text);
      if (has_label && type_ == LabelType::list) taken.lists.push_back(label.list);
      if (has_label && type_ == LabelType::number) taken.numbers.push_back(label.number);
    } else if (!with_truth) {
      taken.kept.push_back({.row = rows.row(), .is_heading = true});
    }
    expected = values.size();
  }
  add_stray_returns(taken.notes, file.name, rows.stray_returns());
}

Records TsvReader::read(std::span<const InputText> files, const std::string& what) const {
  Taken taken;
  for (const InputText& file : files) read_file(file, Sight::everything, taken);
  if (!skips_) taken.problems.require_none(!taken.texts.empty());
  if (taken.texts.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what +
                (taken.rows > 0 ? " has no row that can be read; "
                                : " is empty: expected at least one row with a text" +
                                      std::string(label_ ? " and a label" : "")) +
                (taken.rows > 0 ? taken.problems.skipped(taken.rows) : ""));
  Records records;
  records.notes = std::move(taken.notes);
  records.add(text_field(), std::move(taken.texts));
  if (marked_) records.add("spans", std::move(taken.spans));
  if (second_) records.add(second_field(), std::move(taken.second_texts));
  if (label_ && type_ == LabelType::text) records.add("label", std::move(taken.labels));
  if (label_ && type_ == LabelType::list) records.add("labels", std::move(taken.lists));
  if (label_ && type_ == LabelType::number) records.add("number", std::move(taken.numbers));
  if (taken.problems.count() > 0) records.notes.push_back(taken.problems.skipped(taken.rows));
  return records;
}

// --- questions ---

std::optional<Records> TsvReader::read_questions(const InputText& file) const {
  Taken taken;
  read_file(file, Sight::questions, taken);
  taken.problems.require_none();
  Records records;
  records.notes = std::move(taken.notes);
  records.add(text_field(), std::move(taken.texts));
  if (marked_) records.add("spans", std::move(taken.spans));
  if (second_ && !pairs_) records.add(second_field(), std::move(taken.second_texts));
  return records;
}

std::string TsvReader::write_answers(const InputText& file, const Records& answers) const {
  Taken taken;
  read_file(file, Sight::questions, taken);
  std::vector<std::string> fields;
  for (const Records::Field& field : answers.fields()) fields.push_back(field.name);
  if (fields.empty()) fields = {truth_field()};  // no row, but perhaps a heading
  std::string_view text = file.text;
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string all;
  std::size_t done = 0, record = 0;
  for (const KeptRow& kept : taken.kept) {
    const auto end = static_cast<std::size_t>(kept.row.data() + kept.row.size() - text.data());
    all.append(text.substr(done, end - done));
    done = end;
    for (std::size_t i = 0; i < fields.size(); ++i)
      all.append(1, delimiter_)
          .append(written_value(kept.is_heading ? free_heading(fields[i], taken.names)
                                                : answer_text(answers.fields()[i], record),
                                delimiter_, delimiter_ != '\t'));
    if (!kept.is_heading) ++record;
  }
  return all.append(text.substr(done));
}

/// Returns a field of answers as the value of one column.
std::string TsvReader::answer_text(const Records::Field& field, std::size_t record) const {
  if (const auto* texts = std::get_if<Records::Texts>(&field.values)) return (*texts)[record];
  if (const auto* numbers = std::get_if<Records::Numbers>(&field.values)) return shortest((*numbers)[record]);
  if (const auto* lists = std::get_if<Records::TextLists>(&field.values)) return joined((*lists)[record]);
  throw Error("the answers \"" + field.name +
              "\" of the task are lists of numbers or parts of the text, which a column cannot hold: use "
              "--format jsonl");
}

std::string TsvReader::joined(const std::vector<std::string>& names) const {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator_) + name;
  return text;
}

const char* TsvReader::truth_field() const {
  if (pairs_) return "target";
  return type_ == LabelType::list ? "labels" : type_ == LabelType::number ? "number" : "label";
}

// --- writing ---

/// Returns a line with the values at the places of columns_; other places get a dash.
std::string TsvReader::row_of(const std::vector<std::string>& values,
                              const std::vector<std::size_t>& places) const {
  std::string line;
  for (std::size_t i = 0; i <= *std::ranges::max_element(places); ++i) {
    const auto place = std::ranges::find(places, i);
    if (i > 0) line += delimiter_;
    line += place == places.end() ? "-"
                                  : written_value(values[static_cast<std::size_t>(place - places.begin())],
                                                  delimiter_, delimiter_ != '\t');
  }
  return line + "\n";
}

std::string TsvReader::label_text(const Records& records, std::size_t record) const {
  if (type_ == LabelType::text) return records.texts("label")[record];
  if (type_ == LabelType::number) return shortest(records.numbers("number")[record]);
  return joined(records.lists("labels")[record]);
}

std::string TsvReader::write(const Records& records, FilePart part) const {
  const std::vector<std::size_t> places = places_to_write(columns_);
  std::string text;
  std::vector<std::string> values(columns_.size());
  if (header_ && part == FilePart::first) {
    const std::vector<std::string> headings = {text_field(), second_field(), "label"};
    for (std::size_t i = 0; i < columns_.size(); ++i)
      values[i] = !columns_[i].number ? columns_[i].name : headings[i == 0 ? 0 : i == second_ ? 1 : 2];
    text = row_of(values, places);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    values[0] = records.texts(text_field())[i];
    if (marked_ && records.has("spans")) values[0] = marked_text(values[0], records.spans("spans")[i]);
    if (second_) values[*second_] = records.has(second_field()) ? records.texts(second_field())[i] : "-";
    if (label_) values[*label_] = label_text(records, i);
    text += trimmed(values[0]).empty() ? "\n" : row_of(values, places);
  }
  return text;
}

}  // namespace encore::tsv
