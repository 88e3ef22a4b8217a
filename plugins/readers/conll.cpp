// Line by line; all rows that cannot be read are reported at once.
#include "conll.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <encore/error.hpp>

#include "row_problems.hpp"
#include "trimmed.hpp"

namespace encore::conll {
namespace {

bool parts_sentences(std::string_view line, char delimiter) {
  constexpr std::string_view mark = "-DOCSTART-";
  if (line.empty()) return true;
  if (!line.starts_with(mark)) return false;
  return line.size() == mark.size() || line[mark.size()] == ' ' || line[mark.size()] == '\t' ||
         line[mark.size()] == delimiter;
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

  set.scheme = recognised_scheme(set.sentences);
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
  return format_options();
}

ConllReader::ConllReader(const Options& options, const ReaderContext&) : format_(format_of(options)) {}

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
