// SPDX-License-Identifier: BSD-3-Clause
// The reader "text_file": reads plain text by lines, paragraphs or files. Every line is valid, whatever
// characters it contains. text_file_plugin.cpp registers it. The worker calls read() for data sets
// (tasks/read_set.cpp). Runs repeat only if equal files give equal records. Read text_file.hpp first.
#include "text_file.hpp"

#include <algorithm>

#include <encore/lines.hpp>

#include "line_checks.hpp"
#include "line_text.hpp"

namespace encore::text_file {
namespace {

std::string_view without_mark(std::string_view text) {
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Returns the text with line ends of one byte; all other bytes are unchanged.
std::string whole_text(std::string_view text) {
  std::string whole;
  whole.reserve(text.size());
  LineEnds ends(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = ends.next(at);
    whole += text.substr(at, end - at);
    if (end < text.size()) whole += '\n';
    at = end + ends.length(end);
  }
  return whole;
}

std::string counted_lines(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " line has" : " lines have");
}

}  // namespace

Schema TextFile::options() {
  return Schema().choice(
      "record", "line", {"line", "paragraph", "file"},
      {.help = "what a record is. line: each line, without white space at its ends (empty lines are "
               "skipped); paragraph: the lines up to the next empty line, joined by spaces; file: the whole "
               "file, with all its white space, and with line ends as LF"});
}

TextFile::TextFile(const Options& options, const ReaderContext&)
    : paragraphs_(options.text("record") == "paragraph"), files_(options.text("record") == "file") {}

Records TextFile::read(std::span<const InputText> files, const std::string& what) const {
  return files_ ? read_whole(files, what) : read_lines(files, what);
}

Records TextFile::read_whole(std::span<const InputText> files, const std::string& what) {
  Records::Texts texts;
  for (const InputText& file : files) {
    texts.push_back(whole_text(without_mark(file.text)));
    if (trimmed(texts.back()).empty())
      throw Error(file.name + ": this file of the " + what +
                  " has no text, but it is a record (record = "
                  "\"file\"): leave it out");
  }
  Records records;
  records.add("text", std::move(texts));
  return records;
}

Records TextFile::read_lines(std::span<const InputText> files, const std::string& what) const {
  Records::Texts texts;
  std::int64_t blank = 0;
  Records records;
  for (const InputText& file : files) {
    Lines lines(without_mark(file.text));
    bool open = false;  // the last paragraph may continue
    while (lines.next()) {
      const std::string_view line = trimmed(lines.line());
      if (line.empty()) {
        ++blank;
        open = false;
      } else if (open) {
        texts.back().append(" ").append(line);
      } else {
        texts.emplace_back(line);
        open = paragraphs_;
      }
    }
    add_stray_returns(records.notes, file.name, lines.stray_returns());
  }
  if (texts.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what + " is empty: expected at least one line with text");
  records.add("text", std::move(texts));
  if (blank > 0 && !paragraphs_)
    records.notes.push_back(counted_lines(blank) + " no text and " + (blank == 1 ? "is" : "are") +
                            " skipped");
  return records;
}

std::string TextFile::write(const Records& records, FilePart) const {
  if (files_)
    throw Error(
        "with record = \"file\" a file holds one text, so it cannot hold all predictions: use --format "
        "jsonl");
  std::string all;
  for (std::string text : records.texts("text")) {
    std::ranges::replace(text, '\n', ' ');
    all += text + (paragraphs_ ? "\n\n" : "\n");
  }
  return all;
}

}  // namespace encore::text_file
