// SPDX-License-Identifier: BSD-3-Clause
// Implements the functions of escape.hpp for HTML, Markdown and CSV, which the writers call for every text of
// a document; those for LaTeX are in escape_latex.cpp. Each must return text without special meaning in its
// format, whatever bytes it gets; tests/unit/document/writer_test.cpp passes hostile names. Read escape.hpp
// first.
#include "document/escape.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

#include "document/text.hpp"

namespace encore::document {

namespace {

/// U+2068 and U+2069: the text between them does not change the direction of its neighbours.
std::string isolated(std::string text) {
  return runs_right_to_left(text) ? "\u2068" + text + "\u2069" : text;
}

std::size_t longest_run(std::string_view text, char letter) {
  std::size_t longest = 0, run = 0;
  for (const char other : text) {
    run = other == letter ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  for (const char letter : clean_lines(text)) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += letter;
    }
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  const std::string line = clean_line(text);
  std::string result;
  // These characters begin a block (a heading, a list, a rule) only at the start of a line. A number alone
  // does not.
  const auto is_digit = [&](std::size_t at) {
    return at < line.size() && line[at] >= '0' && line[at] <= '9';
  };
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool numbered = digits > 0 && digits != std::string::npos &&
                        (line[digits] == '.' || line[digits] == ')') && !is_digit(digits + 1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    const bool starts_block = (i == 0 && std::string_view("#+-=").find(letter) != std::string_view::npos &&
                               !((letter == '-' || letter == '+') && is_digit(1))) ||
                              (numbered && i == digits);
    if (letter == '&') {
      result += "&amp;";
    } else if (letter == '<') {
      result += "&lt;";
    } else if (letter == '>') {
      result += "&gt;";
    } else if (starts_block || std::string_view("\\`*_[]{}|~$!").find(letter) != std::string_view::npos) {
      result += '\\';
      result += letter;
    } else if (letter == ':' && line.compare(i, 3, "://") == 0) {
      result += "&#58;";  // otherwise an address would become a link
    } else {
      result += letter;
    }
  }
  return isolated(std::move(result));
}

std::string markdown_code(std::string_view text, bool in_table) {
  const std::string line = clean_line(text);
  // CommonMark ignores tags between backticks. Other renderers may not, so a code span with a tag is written
  // without backticks.
  if (line.find('<') != std::string::npos) return "<code>" + markdown_text(text) + "</code>";
  const std::string ticks(longest_run(line, '`') + 1, '`');
  std::string inside;
  for (const char letter : line) {
    if (letter == '|' && in_table) inside += '\\';
    inside += letter;
  }
  const bool touching =
      inside.empty() || inside.front() == '`' || inside.back() == '`' || inside.front() == ' ';
  return touching ? ticks + " " + inside + " " + ticks : ticks + inside + ticks;
}

std::string markdown_fence(std::string_view text) {
  return std::string(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
}

namespace {

/// Returns whether a spreadsheet reads all of the text as a number, "nan" and "inf" included.
bool is_number(std::string_view text) {
  double number = 0.0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() && failure != std::errc::invalid_argument;
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string field(text);
  const bool is_formula =
      !field.empty() && std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos;
  if (is_formula && !is_number(field)) field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char letter : field) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) record += ',';
    record += csv_field(field);
  }
  return record + "\r\n";
}

std::string csv_text(std::string_view text) {
  return csv_field(clean_lines(text));
}

std::string anchor_text(std::string_view text) {
  std::string result;
  for (const char letter : text.substr(0, 80))
    result += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ? letter : '-';
  return result.empty() ? "-" : result;
}

}  // namespace encore::document
