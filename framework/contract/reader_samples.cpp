// SPDX-License-Identifier: BSD-3-Clause
// Makes the sample files for the checks of readers, and variants of each as other editors and systems write
// them. reader_checks.cpp calls it. A sample may be added if a new format needs it; a reader needs to read
// only one of them. Read reader_samples.hpp first.
#include "contract/reader_samples.hpp"

#include <algorithm>
#include <functional>

namespace encore::contract {
namespace {

FileSet one_file(std::string name, std::string text) {
  return {.name = name, .files = {{.name = name, .text = std::move(text)}}};
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string with_crlf(const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) all += '\r';
    all += text[i];
  }
  return all;
}

std::string with_mark(const std::string& text) {
  return text.starts_with(byte_order_mark) ? text : std::string(byte_order_mark) + text;
}

std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

/// Returns the text with NUL in place of a byte in the middle, and one more at the end.
std::string with_nul(std::string text) {
  if (!text.empty()) text[text.size() / 2] = '\0';
  return text + '\0';
}

FileSet changed(const FileSet& set, const std::function<std::string(const std::string&)>& change) {
  FileSet other = set;
  for (CheckFile& file : other.files) file.text = change(file.text);
  return other;
}

bool has_equal_bytes(const FileSet& a, const FileSet& b) {
  return std::ranges::equal(a.files, b.files,
                            [](const CheckFile& x, const CheckFile& y) { return x.text == y.text; });
}

// --- values without CR before LF ---

std::string with_lf(const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') all += text[i];
  return all;
}
Records::Values with_lf(Records::Values values) {
  if (auto* texts = std::get_if<Records::Texts>(&values))
    for (std::string& text : *texts) text = with_lf(text);
  if (auto* lists = std::get_if<Records::TextLists>(&values))
    for (std::vector<std::string>& list : *lists)
      for (std::string& text : list) text = with_lf(text);
  return values;
}

}  // namespace

const std::vector<FileSet>& sample_sets() {
  static const std::vector<FileSet> sets = {
      one_file("empty.txt", ""),
      one_file("newlines.txt", "\n\n\n"),
      one_file("words.txt", "Anna B-PER\nlives O\nin O\nLund B-LOC\n\nrain O\n"),
      one_file("rows.tsv", "person\tAnna lives in Lund\nweather\train\n"),
      one_file("rows.csv", "label,text\nperson,\"Anna, who lives in Lund\"\n"),
      one_file("lines.jsonl", "{\"text\": \"Anna\", \"label\": \"person\"}\n"),
      one_file(
          "answers.json",
          "{\"data\": [{\"title\": \"t\", \"paragraphs\": [{\"context\": \"Anna lives in Lund\", \"qas\": "
          "[{\"id\": \"1\", \"question\": \"Who?\", \"answers\": [{\"text\": \"Anna\", "
          "\"answer_start\": 0}]}]}]}]}\n"),
      {.name = "side.1 and side.2",
       .files = {{.name = "side.1", .text = "Anna lives in Lund\nrain\n"},
                 {.name = "side.2", .text = "Anna bor i Lund\nregn\n"}}},
      one_file("endings.tsv", "person\tAnna\r\nweather\train"),
      one_file("mark.tsv", "\xEF\xBB\xBFperson\tAnna\n"),
      one_file("nul.txt", std::string("a\tb\0c\n", 6)),
      one_file("not_utf8.txt", "person\tAnn\xFF\n"),
      one_file("long.txt", std::string(100000, 'a') + "\n"),
  };
  return sets;
}

std::vector<Rewritten> rewritten(const FileSet& set) {
  std::vector<Rewritten> all = {
      {.how = "with CRLF line ends", .set = changed(set, with_crlf)},
      {.how = "with a byte order mark in front", .set = changed(set, with_mark)},
      {.how = "without a newline at its end", .set = changed(set, without_last_newline)},
      {.how = "with a NUL byte", .set = changed(set, with_nul), .same_records = false}};
  std::erase_if(all, [&](const Rewritten& other) { return has_equal_bytes(other.set, set); });
  return all;
}

bool equal_apart_from_line_ends(const Records& a, const Records& b) {
  return std::ranges::equal(a.fields(), b.fields(), [](const Records::Field& x, const Records::Field& y) {
    return x.name == y.name && with_lf(x.values) == with_lf(y.values);
  });
}

}  // namespace encore::contract
