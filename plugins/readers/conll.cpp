// Line by line; all rows that cannot be read are reported at once.
#include "conll.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <encore/error.hpp>

#include "row_problems.hpp"

namespace encore::conll {
namespace {

constexpr std::string_view white_space = " \t\r\v\f";

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(white_space) - first + 1);
}

/// Columns parted by single tabs where there is a tab, by runs of blanks otherwise.
void split_columns(std::string_view line, std::vector<std::string_view>& columns) {
  columns.clear();
  const bool tabs = line.find('\t') != std::string_view::npos;
  while (true) {
    const std::size_t end = line.find(tabs ? '\t' : ' ');
    if (tabs)
      columns.push_back(trimmed(line.substr(0, end)));
    else if (end != 0)
      columns.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::string_view type_of(std::string_view tag) {
  return tag.size() > 2 ? tag.substr(2) : std::string_view();
}

/// Whether the tag before ends the run of its type, so that an I- or E- after it starts a new entity.
bool closes(char mark) {
  return mark == 'O' || mark == 'E' || mark == 'S';
}

/// An entity of BIOES ends with E- or is a single S-: whether the tag before should have ended one.
bool unfinished_in_bioes(std::string_view previous, std::string_view tag) {
  if (previous[0] != 'B' && previous[0] != 'I') return false;
  return type_of(previous) != type_of(tag) || (tag[0] != 'I' && tag[0] != 'E');
}

/// Calls `found` with the number of each tag of a sentence that no rule of the scheme would produce.
void for_each_malformed(const std::vector<std::string>& tags, TagScheme scheme, const auto& found) {
  std::string_view previous = "O";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string_view tag = tags[i];
    const char mark = tag[0];
    const bool same_type = previous != "O" && type_of(previous) == type_of(tag);
    const bool continues = same_type && !closes(previous[0]);
    if (scheme == TagScheme::bioes) {
      if (unfinished_in_bioes(previous, tag))
        found(i - 1);
      else if ((mark == 'I' || mark == 'E') && !continues)
        found(i);
    } else if (mark == 'E' || mark == 'S' || (scheme == TagScheme::iob2 && mark == 'I' && !continues) ||
               (scheme == TagScheme::iob1 && mark == 'B' && !same_type)) {
      found(i);
    }
    previous = tag;
  }
  if (scheme == TagScheme::bioes && unfinished_in_bioes(previous, "O")) found(tags.size() - 1);
}

/// By majority: the scheme that the fewest tags of the file break, the first of equals.
TagScheme recognise(const std::vector<Sentence>& sentences) {
  TagScheme best = TagScheme::iob2;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const TagScheme scheme : {TagScheme::iob2, TagScheme::iob1, TagScheme::bioes}) {
    std::int64_t malformed = 0;
    for (const Sentence& sentence : sentences)
      for_each_malformed(sentence.tags, scheme, [&](std::size_t) { ++malformed; });
    if (malformed >= fewest) continue;
    fewest = malformed;
    best = scheme;
  }
  return best;
}

/// What is wrong with a row; empty where nothing is. `expected` columns, 0 before the first row.
std::string problem_of(std::span<const std::string_view> columns, std::int64_t expected, bool ends_with_tab) {
  const auto count = static_cast<std::int64_t>(columns.size());
  if (count > 1 && columns.front().empty())
    return "the token in front of the first tab is empty; a row is a token, a tab and its tag, and a line "
           "without anything parts two sentences";
  if (count < 2)
    return ends_with_tab ? "this row has a token and nothing behind its tab; its tag is missing"
                         : "this row has one column; write the token first and its tag last, parted by a "
                           "tab or blanks";
  if (expected != 0 && count != expected)
    return "this row has " + std::to_string(count) + " columns, the rows before it have " +
           std::to_string(expected) + "; every row needs the same columns";
  if (!is_tag(columns.back()))
    return "\"" + std::string(columns.back()) +
           "\" in the last column is no tag; a tag is O, or B-, I-, E- or S- before a type";
  return "";
}

bool parts_sentences(std::string_view line) {
  return line.empty() || line == "-DOCSTART-" || line.starts_with("-DOCSTART- ") ||
         line.starts_with("-DOCSTART-\t");
}

}  // namespace

std::string_view name_of(TagScheme scheme) {
  switch (scheme) {
    case TagScheme::iob1:
      return "IOB1";
    case TagScheme::iob2:
      return "IOB2";
    case TagScheme::bioes:
      return "BIOES";
  }
  return "unknown";
}

bool is_tag(std::string_view tag) {
  if (tag == "O") return true;
  return tag.size() > 2 && tag[1] == '-' && std::string_view("BIES").find(tag[0]) != std::string_view::npos;
}

void convert_to_iob2(std::vector<std::string>& tags) {
  std::string previous_type;
  char previous = 'O';
  for (std::string& tag : tags) {
    const char mark = tag[0];
    const bool same_type = previous != 'O' && type_of(tag) == previous_type;
    const bool continues = (mark == 'I' || mark == 'E') && !closes(previous) && same_type;
    if (mark == 'O')
      previous_type.clear();
    else
      previous_type = type_of(tag);
    if (mark != 'O') tag[0] = continues ? 'I' : 'B';
    previous = mark;
  }
}

std::string Dataset::malformed_message() const {
  if (malformed_tags == 0) return "";
  std::string text =
      malformed_tags == 1
          ? "1 tag breaks " + std::string(name_of(scheme)) + " and is read as conlleval reads it: "
          : std::to_string(malformed_tags) + " tags break " + std::string(name_of(scheme)) +
                " and are read as conlleval reads them: ";
  for (const MalformedTag& each : first_malformed)
    text +=
        (&each == &first_malformed.front() ? "" : ", ") + each.tag + " in line " + std::to_string(each.line);
  const std::int64_t more = malformed_tags - static_cast<std::int64_t>(first_malformed.size());
  return more > 0 ? text + " and " + std::to_string(more) + " more" : text;
}

Dataset parse(std::string_view text, const std::string& name, const std::string& what) {
  Dataset set;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);

  Sentence sentence;
  std::vector<std::int64_t> first_lines;  // of each sentence; its rows follow one another
  std::vector<std::string_view> columns;
  RowProblems problems;
  const auto finish_sentence = [&] {
    if (sentence.words.empty()) return;
    set.sentences.push_back(std::move(sentence));
    sentence = {};
  };
  std::int64_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at), line = trimmed(whole);
    at = end + 1;
    ++line_number;
    if (parts_sentences(line)) {
      finish_sentence();
      continue;
    }
    // White space in front stays: a tab there is behind an empty token.
    split_columns(whole.substr(0, static_cast<std::size_t>(line.data() + line.size() - whole.data())),
                  columns);
    const std::string problem = problem_of(columns, set.columns, whole.find('\t') != std::string_view::npos);
    if (!problem.empty()) {
      problems.add(name, line_number, problem);
      continue;
    }
    set.columns = static_cast<std::int64_t>(columns.size());
    if (sentence.words.empty()) first_lines.push_back(line_number);
    sentence.words.emplace_back(columns.front());
    sentence.tags.emplace_back(columns.back());
  }
  problems.require_none();
  finish_sentence();
  if (set.sentences.empty())
    throw Error(name + ": the " + what + " is empty; it needs at least one row with a token and a tag");

  set.scheme = recognise(set.sentences);
  for (std::size_t i = 0; i < set.sentences.size(); ++i) {
    std::vector<std::string>& tags = set.sentences[i].tags;
    for_each_malformed(tags, set.scheme, [&](std::size_t word) {
      if (++set.malformed_tags <= static_cast<std::int64_t>(Dataset::most_listed))
        set.first_malformed.push_back({first_lines[i] + static_cast<std::int64_t>(word), tags[word]});
    });
    convert_to_iob2(tags);
  }
  return set;
}

std::string text_of(const Records::TextLists& words, const Records::TextLists& tags) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    ENCORE_REQUIRE(words[i].size() == tags[i].size(), "every word has a tag");
    for (std::size_t word = 0; word < words[i].size(); ++word)
      text += words[i][word] + '\t' + tags[i][word] + '\n';
    text += '\n';
  }
  return text;
}

Records ConllReader::read(std::span<const InputText> files, const std::string& what) const {
  Records::TextLists words, tags;
  Records records;
  for (const InputText& file : files) {
    Dataset set = parse(file.text, file.name, what);
    records.notes.push_back("tags in " + std::string(name_of(set.scheme)));
    if (set.malformed_tags > 0) records.notes.push_back(set.malformed_message());
    for (Sentence& sentence : set.sentences) {
      words.push_back(std::move(sentence.words));
      tags.push_back(std::move(sentence.tags));
    }
  }
  records.add("words", std::move(words));
  records.add("tags", std::move(tags));
  return records;
}

std::string ConllReader::write(const Records& records, FilePart) const {
  return text_of(records.lists("words"), records.lists("tags"));
}

}  // namespace encore::conll
