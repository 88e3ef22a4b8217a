// SPDX-License-Identifier: BSD-3-Clause
// Implements prose.hpp, which says what counts as prose. Each kind of file has one function here, and a new
// kind needs one, and prose_of() at the end chooses between them. language_test.cpp calls it.
#include "system/prose.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

namespace encore::testing {
namespace {

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

/// Collects passages and joins neighbours: comment lines of one mark and column, literals with only white
/// space between them.
class Collector {
 public:
  void add_comment(int line, std::size_t column, std::string mark, std::string text) {
    if (!passages_.empty() && mark == mark_ && column == column_ && line == last_line_ + 1)
      passages_.back().text += "\n" + text;
    else
      passages_.push_back({Passage::Kind::comment, line, std::move(text)});
    mark_ = std::move(mark);
    column_ = column;
    last_line_ = line;
    ends_with_literal_ = false;
  }

  void add_literal(int line, std::string text) {
    mark_.clear();
    if (ends_with_literal_) {
      // The breaks keep the line numbers of what follows right.
      Passage& passage = passages_.back();
      const auto breaks = std::ranges::count(passage.text, '\n');
      passage.text +=
          std::string(static_cast<std::size_t>(std::max<std::ptrdiff_t>(line - passage.line - breaks, 0)),
                      '\n') +
          text;
    } else {
      passages_.push_back({Passage::Kind::literal, line, std::move(text)});
    }
    ends_with_literal_ = true;
  }

  void add_code() { ends_with_literal_ = false; }
  void add(Passage passage) { passages_.push_back(std::move(passage)); }
  std::vector<Passage> passages() && { return std::move(passages_); }

 private:
  std::vector<Passage> passages_;
  std::string mark_;
  std::size_t column_ = 0;
  int last_line_ = 0;
  bool ends_with_literal_ = false;
};

/// Resolves the escapes that matter to prose. A break in a literal ends a word but not a line of the file.
std::string unescaped(std::string_view literal) {
  std::string text;
  for (std::size_t at = 0; at < literal.size(); ++at) {
    if (literal[at] != '\\' || at + 1 == literal.size()) {
      text += literal[at];
      continue;
    }
    const char next = literal[++at];
    text += next == 'n' || next == 't' ? ' ' : next == '\n' ? '\n' : next;
  }
  return text;
}

/// Lines of a literal that starts a passage of its own; a break that the compiler removes stays.
class CppScanner {
 public:
  explicit CppScanner(std::string_view source) : source_(source) {}

  std::vector<Passage> scan() {
    while (at_ < source_.size()) {
      const std::string_view rest = source_.substr(at_);
      if (rest.starts_with("//")) {
        line_comment(rest);
      } else if (rest.starts_with("/*")) {
        const std::size_t end = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
        block_comment(rest.substr(2, end - std::min<std::size_t>(end, 4)));
        advance(end);
      } else if (rest.starts_with("R\"") && (at_ == 0 || !is_name_letter(source_[at_ - 1]))) {
        const std::size_t open = rest.find('(');
        const std::string close = ")" + std::string(rest.substr(2, open - 2)) + "\"";
        const std::size_t end = std::min(rest.find(close, open), rest.size() - close.size());
        found_.add_literal(line_, std::string(rest.substr(open + 1, end - open - 1)));
        advance(end + close.size());
      } else if (rest.front() == '"') {
        const std::size_t end = end_of_literal(rest);
        found_.add_literal(line_, unescaped(rest.substr(1, end - 1)));
        advance(std::min(end + 1, rest.size()));
      } else if (rest.front() == '\'' && (at_ == 0 || !is_name_letter(source_[at_ - 1]))) {
        found_.add_code();
        advance(std::min(end_of_literal(rest) + 1, rest.size()));
      } else if (rest.starts_with("TEST") && (at_ == 0 || !is_name_letter(source_[at_ - 1]))) {
        test_name(rest);
        advance(4);
      } else {
        if (!is_space(rest.front())) found_.add_code();
        advance(1);
      }
    }
    return std::move(found_).passages();
  }

 private:
  static std::size_t end_of_literal(std::string_view rest) {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != rest.front()) end += rest[end] == '\\' ? 2 : 1;
    return std::min(end, rest.size());
  }

  void line_comment(std::string_view rest) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::size_t mark = 2;
    while (mark < end && (rest[mark] == '/' || rest[mark] == '<' || rest[mark] == '!')) ++mark;
    const std::size_t line_start = source_.rfind('\n', at_) + 1;  // npos + 1 is 0
    found_.add_comment(line_, at_ - line_start, std::string(rest.substr(0, std::min<std::size_t>(mark, 3))),
                       std::string(rest.substr(mark, end - mark)));
    advance(end);
  }

  void block_comment(std::string_view body) {
    std::string text(body);
    for (std::size_t at = 0; (at = text.find("\n *", at)) != std::string::npos;) text.replace(at, 3, "\n  ");
    found_.add_code();
    found_.add({Passage::Kind::comment, line_, text});
  }

  /// TEST(Suite, NameInWords) or TEST_F; the name becomes "Name In Words".
  void test_name(std::string_view rest) {
    const std::size_t open = rest.find('(');
    if (open > 6) return;
    const std::size_t comma = rest.find(',', open), close = rest.find(')', open);
    if (comma >= close || close > 200) return;
    std::string name;
    for (const char letter : rest.substr(comma + 1, close - comma - 1)) {
      if (std::isupper(static_cast<unsigned char>(letter)) != 0) name += ' ';
      name += letter == '_' ? ' ' : letter;
    }
    found_.add({Passage::Kind::test_name, line_, name});
  }

  void advance(std::size_t count) {
    line_ += static_cast<int>(std::ranges::count(source_.substr(at_, count), '\n'));
    at_ += count;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  Collector found_;
};

/// Comments and strings of Python; a docstring is a string.
std::vector<Passage> prose_of_python(std::string_view source) {
  Collector found;
  int line = 1;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    std::size_t length = 1;
    if (rest.front() == '#') {
      length = std::min(rest.find('\n'), rest.size());
      const std::size_t line_start = source.rfind('\n', at) + 1;
      found.add_comment(line, at - line_start, "#", std::string(rest.substr(1, length - 1)));
    } else if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
      const std::size_t end = std::min(rest.find(rest.substr(0, 3), 3), rest.size() - 3);
      found.add_literal(line, std::string(rest.substr(3, end - 3)));
      length = end + 3;
    } else if (rest.front() == '"' || rest.front() == '\'') {
      std::size_t end = 1;
      while (end < rest.size() && rest[end] != rest.front() && rest[end] != '\n')
        end += rest[end] == '\\' ? 2 : 1;
      end = std::min(end, rest.size());
      found.add_literal(line, unescaped(rest.substr(1, end - 1)));
      length = std::min(end + 1, rest.size());
    } else if (!is_space(rest.front())) {
      found.add_code();
    }
    line += static_cast<int>(std::ranges::count(rest.substr(0, length), '\n'));
    at += length;
  }
  return std::move(found).passages();
}

/// Comments of a language in which `mark` begins one at a line's start or behind white space; with
/// `has_strings` also what stands in double quotes on one line.
std::vector<Passage> prose_of_lines(std::string_view source, const std::string& mark, bool has_strings) {
  Collector found;
  std::istringstream lines{std::string(source)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::size_t at = 0;
    while (at < line.size()) {
      if (line.compare(at, mark.size(), mark) == 0 && (at == 0 || is_space(line[at - 1]))) {
        std::size_t text = at + mark.size();
        while (text < line.size() && (line[text] == mark.front() || line[text] == '!')) ++text;
        found.add_comment(number, at, mark, line.substr(text));
        break;
      }
      if (has_strings && line[at] == '"') {
        std::size_t end = at + 1;
        while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
        end = std::min(end, line.size());
        found.add_literal(number, unescaped(std::string_view(line).substr(at + 1, end - at - 1)));
        at = end;
      }
      ++at;
    }
    found.add_code();
  }
  return std::move(found).passages();
}

/// Paragraphs of a page without its fenced blocks: those are commands and what programs print.
std::vector<Passage> prose_of_page(std::string_view source) {
  std::vector<Passage> passages;
  std::istringstream lines{std::string(source)};
  std::string line;
  bool in_block = false, is_open = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const bool is_fence =
        line.find("```") == line.find_first_not_of(' ') && line.find("```") != std::string::npos;
    if (is_fence) in_block = !in_block;
    const bool is_prose = !is_fence && !in_block && !line.empty();
    const bool begins =
        line.starts_with('#') || line.starts_with('|') || line.starts_with("- ") || line.starts_with("<!--");
    if (is_prose && is_open && !begins)
      passages.back().text += "\n" + line;
    else if (is_prose)
      passages.push_back({Passage::Kind::page, number, line});
    is_open = is_prose;
  }
  return passages;
}

/// Removes `code spans`, HTML tags and addresses of links; a span becomes a name, which no phrase contains.
std::string without_code(const std::string& text) {
  std::string kept;
  const auto skip = [&](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at)
      if (text[at] == '\n') kept += '\n';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = std::string::npos;
    if (text[at] == '`') end = text.find('`', at + 1);
    if (text.compare(at, 2, "](") == 0) end = text.find(')', at + 1);
    if (end == std::string::npos) {
      kept += text[at];
      continue;
    }
    if (text[at] == '`') kept += "{}";
    skip(at, end);
    at = end;
  }
  return kept;
}

/// A chunk of text without white space, as words: "(told," is the word "told", "run.texts" is a name.
void add_word(std::string_view chunk, int line, std::vector<ProseWord>& words) {
  static const std::string before = "([\"'*<-", after = ")]\"'*>";
  const bool is_quoted = chunk.size() > 2 && chunk.front() == '"' && chunk.find('"', 1) != std::string::npos;
  ProseWord word;
  word.line = line;
  while (!chunk.empty() && (after + ".,;:!?").find(chunk.back()) != std::string::npos) {
    const char mark = chunk.back();
    word.ends |= mark == '.' || mark == '!' || mark == '?';
    word.pauses |= mark == ',' || mark == ';' || mark == ':';
    chunk.remove_suffix(1);
  }
  while (!chunk.empty() && before.find(chunk.front()) != std::string::npos) {
    if (chunk.starts_with("--")) break;  // an option
    chunk.remove_prefix(1);
  }
  const bool is_word = !chunk.empty() && !is_quoted && std::ranges::all_of(chunk, [](char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '\'';
  });
  if (is_word) {
    word.is_capital = std::isupper(static_cast<unsigned char>(chunk.front())) != 0;
    for (const char letter : chunk)
      word.text += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  } else if (chunk.empty() && !words.empty()) {  // a sign alone, such as "-" or "|"
    words.back().pauses = true;
    words.back().ends |= word.ends;
    return;
  }
  words.push_back(std::move(word));
}

/// Whether a literal is a statement of SQL: its words are names of columns.
bool is_sql(const std::string& text) {
  static const std::array<const char*, 11> keywords = {"SELECT ", "INSERT ", "UPDATE ",  "DELETE ",
                                                       "CREATE ", " FROM ",  "WHERE ",   " JOIN ",
                                                       " AND ",   "PRAGMA ", "ORDER BY "};
  return std::ranges::any_of(keywords,
                             [&](const char* keyword) { return text.find(keyword) != std::string::npos; });
}

}  // namespace

std::vector<Passage> prose_of(const std::filesystem::path& file, std::string_view content) {
  const std::string extension = file.extension().string(), name = file.filename().string();
  static const std::set<std::string> like_cpp = {".cpp", ".hpp", ".h", ".c", ".js", ".css"};
  static const std::set<std::string> with_hash = {".sh", ".cmake", ".toml", ".yaml", ".in"};
  static const std::set<std::string> scripts = {"CMakeLists.txt", "exp", "run", "Containerfile"};
  if (like_cpp.contains(extension)) return CppScanner(content).scan();
  if (extension == ".py") return prose_of_python(content);
  if (extension == ".sql" || extension == ".lua") return prose_of_lines(content, "--", false);
  if (extension == ".md" || extension == ".html") return prose_of_page(content);
  if (with_hash.contains(extension) || scripts.contains(name)) return prose_of_lines(content, "#", true);
  return {};
}

std::vector<ProseWord> words_of(const Passage& passage) {
  std::vector<ProseWord> words;
  // A literal of one word is a name: of a field, a column, an option.
  if (passage.kind == Passage::Kind::literal &&
      (std::ranges::none_of(passage.text, is_space) || is_sql(passage.text)))
    return words;
  const std::string text = without_code(passage.text);
  int line = passage.line;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      line += text[at++] == '\n' ? 1 : 0;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    add_word(std::string_view(text).substr(at, end - at), line, words);
    at = end;
  }
  return words;
}

}  // namespace encore::testing
