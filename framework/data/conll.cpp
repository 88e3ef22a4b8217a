// See conll.hpp.
#include "data/conll.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include <encore/error.hpp>

#include "data/file.hpp"
#include "data/hash.hpp"
#include "data/utf8.hpp"

namespace encore {
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

/// Recognises the scheme of a whole file: BIOES by its ends and singles; IOB1 where entities start with I-
/// and B- stands only where IOB1 needs it, behind an entity of its own type; otherwise IOB2.
TagScheme recognise(const std::vector<Sentence>& sentences) {
  bool starts_inside = false;
  bool needless_begin = false;
  for (const Sentence& sentence : sentences) {
    std::string_view previous = "O";
    for (const std::string& tag : sentence.tags) {
      if (tag[0] == 'E' || tag[0] == 'S') return TagScheme::bioes;
      const bool continues = previous != "O" && type_of(previous) == type_of(tag);
      if (tag[0] == 'I' && !continues) starts_inside = true;
      if (tag[0] == 'B' && !continues) needless_begin = true;
      previous = tag;
    }
  }
  return starts_inside && !needless_begin ? TagScheme::iob1 : TagScheme::iob2;
}

/// Puts "file:line: " in front.
[[noreturn]] void refuse(const std::string& name, std::int64_t line, const std::string& message) {
  throw Error(name + ":" + std::to_string(line) + ": " + message);
}

void check_columns(std::span<const std::string_view> columns, std::int64_t expected, const std::string& name,
                   std::int64_t line) {
  if (columns.size() < 2)
    refuse(name, line,
           "this row has one column; write the token first and its tag last, parted by a tab or blanks");
  if (static_cast<std::int64_t>(columns.size()) != expected)
    refuse(name, line,
           "this row has " + std::to_string(columns.size()) + " columns, the rows before it have " +
               std::to_string(expected) + "; every row needs the same columns");
  if (columns.front().empty()) refuse(name, line, "the token in front of the tab is empty");
}

/// A closing B- or I- of BIOES: an entity must end with E- or be a single S-.
bool malformed_in_bioes(char previous, bool same_type, char mark) {
  const bool open = previous == 'B' || previous == 'I';
  if (open && (!same_type || mark == 'O' || mark == 'B' || mark == 'S')) return true;
  return !open && (mark == 'I' || mark == 'E');
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

std::int64_t convert_to_iob2(std::vector<std::string>& tags, TagScheme scheme) {
  std::int64_t malformed = 0;
  std::string previous_type;
  char previous = 'O';
  for (std::string& tag : tags) {
    const char mark = tag[0];
    const bool same_type = previous != 'O' && type_of(tag) == previous_type;
    const bool continues = (mark == 'I' || mark == 'E') && !closes(previous) && same_type;
    if (scheme == TagScheme::iob2 && mark == 'I' && !continues) ++malformed;
    if (scheme == TagScheme::bioes && malformed_in_bioes(previous, same_type, mark)) ++malformed;
    if (mark == 'O')
      previous_type.clear();
    else
      previous_type = type_of(tag);
    if (mark != 'O') tag[0] = continues ? 'I' : 'B';
    previous = mark;
  }
  // A sentence may not end inside a BIOES entity either.
  if (scheme == TagScheme::bioes && (previous == 'B' || previous == 'I')) ++malformed;
  return malformed;
}

std::int64_t DatasetSummary::entity_count() const {
  std::int64_t count = 0;
  for (const auto& [type, number] : entities) count += number;
  return count;
}

WordCounts Dataset::word_counts() const {
  // Counted in a hash table and sorted once: the map is part of the tokenizer's interface because its order
  // is fixed.
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const Sentence& sentence : sentences)
    for (const std::string& word : sentence.words) ++counts[word];
  return {counts.begin(), counts.end()};
}

Dataset parse_conll(std::string_view text, const std::string& name, const std::string& what) {
  Dataset set;
  set.path = name;
  set.sha256 = sha256(text);
  text = without_byte_order_mark(text);

  Sentence sentence;
  std::vector<std::string_view> columns;
  const auto finish_sentence = [&] {
    if (sentence.words.empty()) return;
    set.sentences.push_back(std::move(sentence));
    sentence = {};
  };
  std::int64_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (line.empty() || line == "-DOCSTART-" || line.starts_with("-DOCSTART- ") ||
        line.starts_with("-DOCSTART-\t")) {
      finish_sentence();
      continue;
    }
    split_columns(line, columns);
    if (set.columns == 0) set.columns = static_cast<std::int64_t>(columns.size());
    check_columns(columns, set.columns, name, line_number);
    if (!is_tag(columns.back()))
      refuse(name, line_number,
             "\"" + std::string(columns.back()) +
                 "\" in the last column is no tag; a tag is O, or B-, I-, E- or S- before a type");
    sentence.words.emplace_back(columns.front());
    sentence.tags.emplace_back(columns.back());
  }
  finish_sentence();
  if (set.sentences.empty())
    throw Error(name + ": the " + what + " is empty; it needs at least one row with a token and a tag");

  set.scheme = recognise(set.sentences);
  for (Sentence& each : set.sentences) {
    set.words += static_cast<std::int64_t>(each.words.size());
    set.malformed_tags += convert_to_iob2(each.tags, set.scheme);
    for (const std::string& tag : each.tags)
      if (tag[0] == 'B') ++set.entities[tag.substr(2)];
  }
  return set;
}

Dataset load_conll(const std::filesystem::path& path, const std::string& what) {
  return parse_conll(load_text(path, what), path.string(), what);
}

std::map<std::string, std::int64_t> unseen_types(const Dataset& train, const Dataset& other) {
  std::map<std::string, std::int64_t> unseen;
  for (const auto& [type, count] : other.entities)
    if (!train.entities.contains(type)) unseen.emplace(type, count);
  return unseen;
}

}  // namespace encore
