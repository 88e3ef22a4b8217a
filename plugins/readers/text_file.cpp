// Line by line. Every line is a text, whatever characters it has: there are no rows that could be wrong.
#include "text_file.hpp"

#include <algorithm>

namespace encore::text_file {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(white_space) - first + 1);
}

std::string counted_lines(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " line has" : " lines have");
}

}  // namespace

Schema TextFile::options() {
  return Schema().choice("record", "line", {"line", "paragraph"},
                         {.help = "what a record is: a line, or all lines up to one without text"});
}

TextFile::TextFile(const Options& options, const ReaderContext&)
    : paragraphs_(options.text("record") == "paragraph") {}

Records TextFile::read(std::span<const InputText> files, const std::string& what) const {
  Records::Texts texts;
  std::int64_t blank = 0;
  for (const InputText& file : files) {
    std::string_view left = file.text;
    while (left.starts_with("\xEF\xBB\xBF")) left.remove_prefix(3);
    bool open = false;  // the last text is a paragraph that goes on
    while (!left.empty()) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      const std::string_view line = trimmed(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
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
  }
  if (texts.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what + " is empty; it needs at least one line with text");
  Records records;
  records.add("text", std::move(texts));
  if (blank > 0 && !paragraphs_)
    records.notes.push_back(counted_lines(blank) + " no text and " + (blank == 1 ? "is" : "are") +
                            " skipped");
  return records;
}

std::string TextFile::write(const Records& records, FilePart) const {
  std::string all;
  for (std::string text : records.texts("text")) {
    std::ranges::replace(text, '\n', ' ');
    all += text + (paragraphs_ ? "\n\n" : "\n");
  }
  return all;
}

}  // namespace encore::text_file
