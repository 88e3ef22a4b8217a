// Line by line; all rows that cannot be read are reported at once. Options of their own for the two columns,
// not one list of fields: a file of twenty columns is read by naming two.
#include "tsv.hpp"

#include <algorithm>
#include <charconv>

#include "row_problems.hpp"

namespace encore::tsv {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

std::string_view trimmed(std::string_view value) {
  const std::size_t first = value.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return value.substr(first, value.find_last_not_of(white_space) - first + 1);
}

void split_columns(std::string_view line, std::vector<std::string_view>& values) {
  values.clear();
  for (std::size_t end = line.find('\t'); end != std::string_view::npos; end = line.find('\t')) {
    values.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  values.push_back(trimmed(line));
}

std::string counted_columns(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

Column column_of(const Options& options, const std::string& option) {
  const std::string& name = options.text(option);
  if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) {
    if (!options.flag("header") || trimmed(name).empty())
      throw OptionError(option,
                        option + " = \"" + name +
                            "\" is no number of a column; columns are counted from 1, and go by the names in "
                            "the first line of the file only with header = true");
    return {.name = std::string(trimmed(name)), .number = {}};
  }
  std::size_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || number == 0)
    throw OptionError(option,
                      option + " = \"" + name + "\" is no number of a column; columns are counted from 1");
  return {.name = name, .number = number - 1};
}

/// The numbers of the two columns in one file.
struct Places {
  std::size_t text = 0, label = 0;
};

/// Throws Error where the first line lacks a name or has it twice.
std::size_t place_of(const Column& column, const std::vector<std::string_view>& names,
                     const std::string& where) {
  if (column.number) return *column.number;
  const auto found = std::ranges::find(names, column.name);
  const auto again = found == names.end() ? found : std::find(found + 1, names.end(), column.name);
  if (found != names.end() && again == names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  throw Error(where + (found == names.end() ? "no column is called \"" : "two columns are called \"") +
              column.name + "\"; this line names " + all);
}

/// What is wrong with a row; empty where nothing is. `expected` columns, 0 before the first row.
std::string problem_of(const std::vector<std::string_view>& values, std::size_t expected,
                       const Places& places) {
  if (expected != 0 && values.size() != expected)
    return "this row has " + counted_columns(values.size()) + ", the rows before it have " +
           std::to_string(expected) + "; every row needs the same columns";
  for (const auto& [what, place] : {std::pair("text", places.text), std::pair("label", places.label)}) {
    const std::string column = "column " + std::to_string(place + 1);
    if (place >= values.size())
      return "this row has " + counted_columns(values.size()) + " and no " + column + ", which holds the " +
             what + "; columns are parted by tabs";
    if (values[place].empty()) return "the " + std::string(what) + " in " + column + " is empty";
  }
  return "";
}

/// A value as one column of one line.
std::string on_one_line(std::string_view value) {
  std::string text(trimmed(value));
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

/// One line from the values of two columns; columns between them hold a dash.
std::string row_of(const Places& places, const std::string& text, const std::string& label) {
  std::string line;
  for (std::size_t i = 0; i <= std::max(places.text, places.label); ++i)
    line += (i > 0 ? "\t" : "") + (i == places.text ? text : i == places.label ? label : "-");
  return line + "\n";
}

}  // namespace

Schema TsvReader::options() {
  return Schema()
      .boolean("header", false, {.help = "the first line of a file names its columns and is no example"})
      .text("text_column", "1",
            {.help = "column with the text: its number from 1 (\"1\"), or its name with header = true"})
      .text("label_column", "2", {.help = "column with the label, likewise"});
}

TsvReader::TsvReader(const Options& options, const ReaderContext&)
    : header_(options.flag("header")),
      text_(column_of(options, "text_column")),
      label_(column_of(options, "label_column")) {
  if (text_.number ? text_.number == label_.number : !label_.number && text_.name == label_.name)
    throw OptionError("label_column",
                      "label_column = \"" + label_.name +
                          "\" is the column of the text too; text and label need a column each");
}

Records TsvReader::read(std::span<const InputText> files, const std::string& what) const {
  Records::Texts texts, labels;
  RowProblems problems;
  std::vector<std::string_view> values, names;
  for (const InputText& file : files) {
    std::string_view left = file.text;
    while (left.starts_with("\xEF\xBB\xBF")) left.remove_prefix(3);
    std::size_t expected = 0;
    Places places{.text = text_.number.value_or(0), .label = label_.number.value_or(0)};
    names.clear();
    for (std::int64_t number = 1; !left.empty(); ++number) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      const std::string_view line = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      if (trimmed(line).empty() && line.find('\t') == std::string_view::npos) continue;
      split_columns(line, values);
      if (header_ && names.empty()) {
        names = values;
        const std::string where = file.name + ":" + std::to_string(number) + ": ";
        places = {.text = place_of(text_, names, where), .label = place_of(label_, names, where)};
        if (places.text == places.label)
          throw Error(where + "\"" + text_.name + "\" and \"" + label_.name +
                      "\" are one column; text and label need a column each");
      } else if (names.empty() || values != names) {
        const std::string problem = problem_of(values, expected, places);
        if (!problem.empty()) {
          problems.add(file.name, number, problem);
          continue;
        }
        texts.emplace_back(values[places.text]);
        labels.emplace_back(values[places.label]);
      }
      expected = values.size();
    }
  }
  problems.require_none();
  if (texts.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what +
                " is empty; it needs at least one row with a text and a label");
  Records records;
  records.add("text", std::move(texts));
  records.add("label", std::move(labels));
  return records;
}

std::string TsvReader::write(const Records& records, FilePart part) const {
  const std::size_t free = (text_.number == 0U || label_.number == 0U) ? 1 : 0;
  const Places places{.text = text_.number.value_or(free),
                      .label = label_.number.value_or(text_.number ? free : 1)};
  std::string text;
  if (header_ && part == FilePart::first)
    text = row_of(places, text_.number ? "text" : text_.name, label_.number ? "label" : label_.name);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string value = on_one_line(records.texts("text")[i]);
    text += value.empty() ? "\n" : row_of(places, value, on_one_line(records.texts("label")[i]));
  }
  return text;
}

}  // namespace encore::tsv
