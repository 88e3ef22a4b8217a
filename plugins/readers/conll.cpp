// Line by line; all rows that cannot be read are reported at once.
#include "conll.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <span>
#include <utility>

#include <encore/error.hpp>

#include "row_problems.hpp"
#include "trimmed.hpp"

namespace encore::conll {
namespace {

/// Columns parted by single characters, or where there is none given by single tabs where there is a tab, and
/// by runs of blanks otherwise.
void split_columns(std::string_view line, char delimiter, std::vector<std::string_view>& columns) {
  columns.clear();
  if (delimiter == ' ' && line.find('\t') != std::string_view::npos) delimiter = '\t';
  while (true) {
    const std::size_t end = line.find(delimiter);
    if (delimiter != ' ')
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

bool has_default_columns(const Format& format) {
  return format.token_column == 1 && format.label_column == 0 && format.delimiter == ' ';
}

std::string counted_columns(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

/// Of `count` columns the one with the label, counted from 0.
std::size_t place_of_label(const Format& format, std::int64_t count) {
  return static_cast<std::size_t>(format.label_column == 0 ? count : format.label_column) - 1;
}

/// The same for columns that were chosen.
std::string problem_of_chosen(std::span<const std::string_view> columns, const Format& format) {
  const auto count = static_cast<std::int64_t>(columns.size());
  const std::string parted = format.delimiter == ' '    ? "tabs or blanks"
                             : format.delimiter == '\t' ? "tabs"
                                                        : "\"" + std::string(1, format.delimiter) + "\"";
  for (const auto& [column, holds] :
       {std::pair{format.token_column, "token"}, {format.label_column, "label"}})
    if (column > count)
      return "this row has " + counted_columns(count) + " and no column " + std::to_string(column) +
             ", which holds the " + holds + "; columns are parted by " + parted;
  if (format.label_column == 0 && count <= format.token_column)
    return "this row has " + counted_columns(count) +
           " and none behind the token, where the label stands; columns are parted by " + parted;
  const auto token = static_cast<std::size_t>(format.token_column) - 1, label = place_of_label(format, count);
  for (const auto& [place, holds] : {std::pair{token, "token"}, {label, "label"}})
    if (columns[place].empty())
      return "the " + std::string(holds) + " in column " + std::to_string(place + 1) + " is empty";
  return "";
}

/// What is wrong with the columns of a row; empty where nothing is. `expected` columns, 0 before the first
/// row.
std::string problem_of(std::span<const std::string_view> columns, const Format& format, std::int64_t expected,
                       bool ends_with_tab) {
  const auto count = static_cast<std::int64_t>(columns.size());
  if (!has_default_columns(format)) {
    const std::string problem = problem_of_chosen(columns, format);
    if (!problem.empty()) return problem;
  } else if (count > 1 && columns.front().empty()) {
    return "the token in front of the first tab is empty; a row is a token, a tab and its tag, and a line "
           "without anything parts two sentences";
  } else if (count < 2) {
    return ends_with_tab ? "this row has a token and nothing behind its tab; its tag is missing"
                         : "this row has one column; write the token first and its tag last, parted by a "
                           "tab or blanks";
  }
  if (expected != 0 && count != expected)
    return "this row has " + std::to_string(count) + " columns, the rows before it have " +
           std::to_string(expected) + "; every row needs the same columns";
  return "";
}

/// What is wrong with a label, after it was mapped.
std::string problem_of_tag(const std::string& tag, const Format& format) {
  if (!format.entities || is_tag(tag)) return "";
  return "\"" + tag + "\" in " +
         (format.label_column == 0 ? "the last column" : "column " + std::to_string(format.label_column)) +
         " is no tag; a tag is O, or B-, I-, E- or S- before a type";
}

bool parts_sentences(std::string_view line, char delimiter) {
  constexpr std::string_view mark = "-DOCSTART-";
  if (line.empty()) return true;
  if (!line.starts_with(mark)) return false;
  return line.size() == mark.size() || line[mark.size()] == ' ' || line[mark.size()] == '\t' ||
         line[mark.size()] == delimiter;
}

/// A label as the file's map has it: the whole label, else the type of an entity. What is mapped is counted.
std::string mapped_label(std::string_view label, const Format& format,
                         std::map<std::string, std::int64_t>& mapped) {
  const auto target = [&](std::string_view name) -> const std::string* {
    const auto found = format.labels.find(std::string(name));
    if (found == format.labels.end()) return nullptr;
    ++mapped[found->first];
    return &found->second;
  };
  if (format.labels.empty()) return std::string(label);
  if (const std::string* whole = target(label)) return *whole;
  if (!format.entities || label == "O" || !is_tag(label)) return std::string(label);
  const std::string* type = target(type_of(label));
  if (type == nullptr) return std::string(label);
  return *type == "O" ? *type : std::string(label.substr(0, 2)) + *type;
}

char delimiter_of(const Options& options) {
  const std::string& text = options.text("delimiter");
  if (text == "whitespace") return ' ';
  if (text == "tab" || text == "\t") return '\t';
  if (text.size() == 1 && std::ispunct(static_cast<unsigned char>(text.front())) != 0) return text.front();
  throw OptionError("delimiter",
                    "delimiter = \"" + text +
                        "\" parts no columns; it is \"whitespace\", \"tab\", or one character that is no "
                        "letter, digit or blank");
}

std::map<std::string, std::string> label_map_of(const Options& options) {
  std::map<std::string, std::string> labels;
  for (const std::string& entry : options.text_list("label_map")) {
    const std::size_t parting = entry.find('=');
    if (parting == std::string::npos || parting == 0 || parting + 1 == entry.size())
      throw OptionError("label_map",
                        "label_map has \"" + entry + "\"; an entry is FROM=TO, as in \"PERSON=PER\"");
    if (!labels.emplace(entry.substr(0, parting), entry.substr(parting + 1)).second)
      throw OptionError("label_map", "label_map names \"" + entry.substr(0, parting) + "\" twice");
  }
  return labels;
}

/// "2 of 140 sentences are skipped for 3 rows that cannot be read; the first: train.conll:7: ..."
std::string skipped_message(std::int64_t skipped, std::size_t kept, const RowProblems& problems) {
  if (skipped == 0) return "";
  return std::to_string(skipped) + " of " + std::to_string(static_cast<std::int64_t>(kept) + skipped) +
         (skipped == 1 ? " sentences is skipped for " : " sentences are skipped for ") +
         (problems.count() == 1
              ? "a row that cannot be read: "
              : std::to_string(problems.count()) + " rows that cannot be read; the first: ") +
         problems.first();
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

Dataset parse(std::string_view text, const std::string& name, const std::string& what, const Format& format) {
  Dataset set;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);

  Sentence sentence;
  std::vector<std::int64_t> first_lines;  // of each sentence; its rows follow one another
  std::vector<std::string_view> columns;
  RowProblems problems;
  std::int64_t line_number = 0, first_line = 0, skipped = 0;
  bool is_whole = true;  // no row of the sentence is bad
  const auto finish_sentence = [&] {
    if (!is_whole) {
      ++skipped;
    } else if (!sentence.words.empty()) {
      set.sentences.push_back(std::move(sentence));
      first_lines.push_back(first_line);
    }
    sentence = {};
    is_whole = true;
  };

  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at), line = trimmed(whole);
    at = end + 1;
    ++line_number;
    if (!format.comment.empty() && whole.starts_with(format.comment)) continue;
    if (parts_sentences(line, format.delimiter)) {
      finish_sentence();
      continue;
    }
    // White space in front stays: a tab there is behind an empty token. Behind, an empty column is one where
    // the columns are parted by a character of their own.
    split_columns(format.delimiter != ' '
                      ? whole
                      : whole.substr(0, static_cast<std::size_t>(line.data() + line.size() - whole.data())),
                  format.delimiter, columns);
    std::string problem =
        problem_of(columns, format, set.columns, whole.find('\t') != std::string_view::npos);
    std::string label;
    if (problem.empty()) {
      label = mapped_label(columns[place_of_label(format, std::ssize(columns))], format, set.mapped);
      problem = problem_of_tag(label, format);
    }
    if (!problem.empty()) {
      problems.add(name, line_number, problem);
      is_whole = false;
      continue;
    }
    set.columns = static_cast<std::int64_t>(columns.size());
    if (sentence.words.empty()) first_line = line_number;
    sentence.words.emplace_back(columns[static_cast<std::size_t>(format.token_column) - 1]);
    sentence.tags.push_back(std::move(label));
  }
  if (!format.skips_bad_rows) problems.require_none();
  finish_sentence();
  set.skipped = skipped_message(skipped, set.sentences.size(), problems);
  if (set.sentences.empty())
    throw Error(name + ": the " + what +
                (skipped > 0 ? " has no sentence that can be read; " + set.skipped
                             : " is empty; it needs at least one row with a token and a tag"));
  if (!format.entities) return set;

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

std::string text_of(const Records::TextLists& words, const Records::TextLists& tags, const Format& format) {
  const char delimiter = format.delimiter == ' ' ? '\t' : format.delimiter;
  const auto token = static_cast<std::size_t>(format.token_column) - 1;
  // The last column is the one behind the token.
  const std::size_t label = place_of_label(format, format.token_column + 1);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    ENCORE_REQUIRE(words[i].size() == tags[i].size(), "every word has a tag");
    for (std::size_t word = 0; word < words[i].size(); ++word) {
      for (const std::string* part : {&words[i][word], &tags[i][word]})
        if (!has_default_columns(format) && part->find(delimiter) != std::string::npos)
          throw Error("\"" + *part + "\" cannot be written in columns that are parted by \"" +
                      std::string(1, delimiter) + "\"");
      for (std::size_t column = 0; column <= std::max(token, label); ++column) {
        if (column > 0) text += delimiter;
        text += column == token ? words[i][word] : column == label ? tags[i][word] : "_";
      }
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

Schema ConllReader::options() {
  return Schema()
      .integer("token_column", 1, {.help = "column with the token, counted from 1", .min = 1.0})
      .integer("label_column", 0,
               {.help = "column with the label, counted from 1; 0: the last one", .min = 0.0})
      .text(
          "delimiter", "whitespace",
          {.help =
               "what parts the columns: \"whitespace\" (tabs where a line has one, else blanks), \"tab\", or "
               "a character such as \",\""})
      .choice("label_type", "entity", {"entity", "word"},
              {.help = "what a label is: the tag of an entity, read as IOB2, or any label of the word, which "
                       "stays as it is"})
      .text_list(
          "label_map", {},
          {.help = "labels that are read as others, as in [\"PERSON=PER\", \"B-MISC=O\"]; a type of entity "
                   "stands for all of its tags"})
      .text("comment", "",
            {.help = "lines that begin with this are no rows (\"#\" in CoNLL-U); \"\": there are none"})
      .choice(
          "bad_rows", "error", {"error", "skip"},
          {.help = "what becomes of rows that cannot be read: nothing starts, or their sentences are left "
                   "out and counted in the run's log"});
}

ConllReader::ConllReader(const Options& options, const ReaderContext&)
    : format_{.token_column = options.integer("token_column"),
              .label_column = options.integer("label_column"),
              .delimiter = delimiter_of(options),
              .comment = options.text("comment"),
              .entities = options.text("label_type") == "entity",
              .skips_bad_rows = options.text("bad_rows") == "skip",
              .labels = label_map_of(options)} {
  if (format_.token_column == format_.label_column)
    throw OptionError("label_column",
                      "label_column = " + std::to_string(format_.label_column) +
                          " is the column of the token too; token and label need a column each");
}

Records ConllReader::read(std::span<const InputText> files, const std::string& what) const {
  Records::TextLists words, tags;
  Records records;
  for (const InputText& file : files) {
    Dataset set = parse(file.text, file.name, what, format_);
    if (format_.entities) records.notes.push_back("tags in " + std::string(name_of(set.scheme)));
    if (set.malformed_tags > 0) records.notes.push_back(set.malformed_message());
    if (!set.skipped.empty()) records.notes.push_back(set.skipped);
    for (const auto& [from, to] : format_.labels)
      if (!set.mapped.contains(from))
        records.notes.push_back("no label or type of entity is \"" + from + "\", which label_map names");
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
  return text_of(records.lists("words"), records.lists("tags"), format_);
}

}  // namespace encore::conll
