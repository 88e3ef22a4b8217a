// SPDX-License-Identifier: BSD-3-Clause
// The reader "conll": turns files of one token per line into sentences, and reports all invalid rows at once.
// conll_plugin.cpp registers it. The worker calls read() for data sets (tasks/read_set.cpp) and the other
// functions for `exp predict`. Runs repeat only if equal files give equal records. Read conll.hpp first.
#include "conll.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <encore/error.hpp>
#include <encore/lines.hpp>

#include "conll_rows.hpp"
#include "line_checks.hpp"
#include "line_text.hpp"
#include "row_problems.hpp"

namespace encore::conll {
namespace {

/// Returns "2 of 140 sentences are skipped for 3 rows that cannot be read; the first: train.conll:7: ..."
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

namespace {

/// Returns what is wrong with a line that has the label of a sentence, or "". `sentence` has what stands
/// before the line.
std::string problem_of_label(std::string_view line, const Sentence& sentence, const Format& format) {
  if (trimmed(line.substr(format.label_comment.size())).empty())
    return "the label of the sentence is empty: expected it behind \"" + format.label_comment + "\"";
  if (!sentence.words.empty())
    return "the label of a sentence stands behind its first row: expected it in front, behind an empty line";
  if (!sentence.label.empty()) return "the sentence has a second label: expected one";
  return "";
}

/// Like parse(), but adds invalid rows to `problems`, and the set may be empty.
Dataset parse_rows(std::string_view text, const std::string& name, const Format& format,
                   RowProblems& problems) {
  Dataset set;
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);

  Sentence sentence;
  std::vector<std::int64_t> first_lines;  // first line of each sentence; its rows follow it
  std::vector<std::string_view> columns;
  const std::int64_t bad_before = problems.count();
  std::int64_t expected = 0;
  if (!format.comment.empty()) {
    if (const std::string_view row = first_row(text, format); !row.empty()) {
      split_row(row, format, columns);
      expected = std::ssize(columns);
    }
  }
  std::int64_t first_line = 0;
  bool is_whole = true;  // the sentence has no invalid row
  const auto finish_sentence = [&] {
    if (is_whole && sentence.words.empty()) return;  // a label may stand before this line
    if (!is_whole) {
      ++set.skipped_sentences;
    } else {
      set.sentences.push_back(std::move(sentence));
      first_lines.push_back(first_line);
    }
    sentence = {};
    is_whole = true;
  };
  const auto refuse = [&](std::int64_t line, const std::string& problem) {
    problems.add(name, line, problem);
    is_whole = false;
  };

  Lines lines(text);
  while (lines.next()) {
    const std::string_view whole = lines.line();
    if (has_label_of_sentence(whole, format)) {
      const std::string problem = problem_of_label(whole, sentence, format);
      if (!problem.empty()) refuse(lines.number(), problem);
      sentence.label = trimmed(whole.substr(format.label_comment.size()));
      continue;
    }
    if (is_comment(whole, format, set.columns != 0 ? set.columns : expected, columns)) continue;
    if (parts_sentences(trimmed(whole), format.delimiter)) {
      finish_sentence();
      continue;
    }
    split_row(whole, format, columns);
    std::string problem = problem_of_length(whole);
    if (problem.empty())
      problem = problem_of(columns, format, set.columns, whole.find('\t') != std::string_view::npos);
    if (problem.empty() && set.columns == 0) problem = problem_of_heading(columns, format);
    std::string label;
    if (problem.empty()) {
      label = mapped_label(columns[place_of_label(format, std::ssize(columns))], format, set.mapped);
      problem = problem_of_tag(label, format);
    }
    if (problem.empty() && is_whole && sentence.label.empty() && !format.label_comment.empty())
      problem = "the sentence has no label: expected a line \"" + format.label_comment +
                " LABEL\" in front of its first row";
    if (!problem.empty()) {
      refuse(lines.number(), problem);
      continue;
    }
    set.columns = static_cast<std::int64_t>(columns.size());
    if (sentence.words.empty()) first_line = lines.number();
    sentence.words.emplace_back(columns[static_cast<std::size_t>(format.token_column) - 1]);
    sentence.tags.push_back(std::move(label));
  }
  finish_sentence();
  set.stray_returns = lines.stray_returns();
  if (!format.entities || (problems.count() > bad_before && !format.skips_bad_rows)) return set;

  set.scheme = recognized_scheme(set.sentences);
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

/// Stores the note about skipped sentences. Throws Error if the set has no sentence.
void finish(Dataset& set, const std::string& name, const std::string& what, const RowProblems& problems) {
  set.skipped = skipped_message(set.skipped_sentences, set.sentences.size(), problems);
  if (set.sentences.empty())
    throw Error(name + ": the " + what +
                (set.skipped_sentences > 0 ? " has no sentence that can be read; " + set.skipped
                                           : " is empty: expected at least one row with a token and a tag"));
}

}  // namespace

Dataset parse(std::string_view text, const std::string& name, const std::string& what, const Format& format) {
  RowProblems problems;
  Dataset set = parse_rows(text, name, format, problems);
  if (!format.skips_bad_rows) problems.require_none(!set.sentences.empty());
  finish(set, name, what, problems);
  return set;
}

std::string text_of(const Records::TextLists& words, const Records::TextLists& tags, const Format& format,
                    const Records::Texts& labels) {
  const char delimiter = format.delimiter == ' ' ? '\t' : format.delimiter;
  const auto token = static_cast<std::size_t>(format.token_column) - 1;
  // The label is in the column after the token.
  const std::size_t label = place_of_label(format, format.token_column + 1);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    ENCORE_REQUIRE(words[i].size() == tags[i].size(), "every word has a tag");
    if (!labels.empty()) text += format.label_comment + " " + labels[i] + "\n";
    for (std::size_t word = 0; word < words[i].size(); ++word) {
      for (const std::string* part : {&words[i][word], &tags[i][word]})
        if (!has_default_columns(format) && part->find(delimiter) != std::string::npos)
          throw Error("\"" + *part + "\" cannot be written in columns that are separated by \"" +
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

Records::Texts joined(const Records::TextLists& words) {
  Records::Texts texts;
  for (const std::vector<std::string>& sentence : words) {
    std::string& text = texts.emplace_back();
    for (const std::string& word : sentence) {
      if (!text.empty()) text += ' ';
      text += word;
    }
  }
  return texts;
}

Schema ConllReader::options() {
  return format_options();
}

ConllReader::ConllReader(const Options& options, const ReaderContext&) : format_(format_of(options)) {}

Records ConllReader::read(std::span<const InputText> files, const std::string& what) const {
  Records::TextLists words, tags;
  Records::Texts labels;
  Records records;
  RowProblems all_problems;
  std::vector<Dataset> sets;
  for (const InputText& file : files) {
    RowProblems skipped;
    sets.push_back(
        parse_rows(file.text, file.name, format_, format_.skips_bad_rows ? skipped : all_problems));
    if (all_problems.count() == 0) finish(sets.back(), file.name, what, skipped);
  }
  all_problems.require_none(
      std::ranges::any_of(sets, [](const Dataset& set) { return !set.sentences.empty(); }));
  for (std::size_t i = 0; i < files.size(); ++i) {
    Dataset& set = sets[i];
    if (format_.entities) records.notes.push_back("tags in " + std::string(name_of(set.scheme)));
    if (set.malformed_tags > 0) records.notes.push_back(set.malformed_message());
    if (!set.skipped.empty()) records.notes.push_back(set.skipped);
    add_stray_returns(records.notes, files[i].name, set.stray_returns);
    for (const auto& [from, to] : format_.labels)
      if (!set.mapped.contains(from))
        records.notes.push_back("label_map names \"" + from +
                                "\", but no label or type of entity has that name");
    for (Sentence& sentence : set.sentences) {
      words.push_back(std::move(sentence.words));
      tags.push_back(std::move(sentence.tags));
      labels.push_back(std::move(sentence.label));
    }
  }
  if (!format_.label_comment.empty()) {
    records.add("text", joined(words));
    records.add("label", std::move(labels));
  }
  records.add("words", std::move(words));
  records.add("tags", std::move(tags));
  return records;
}

std::optional<Records> ConllReader::read_questions(const InputText& file) const {
  return questions_in(file, format_);
}

std::string ConllReader::write_answers(const InputText& file, const Records& answers) const {
  if (answers.size() > 0 && !answers.has("tags"))
    throw Error(file.name +
                ": a CoNLL file has a column for the labels of words only, and the answers have none: use "
                "--json with a text in each line");
  return with_labels(file, answers.size() > 0 ? answers.lists("tags") : Records::TextLists(), format_);
}

std::string ConllReader::write(const Records& records, FilePart) const {
  const bool has_labels = !format_.label_comment.empty() && records.has("label");
  return text_of(records.lists("words"), records.lists("tags"), format_,
                 has_labels ? records.texts("label") : Records::Texts());
}

}  // namespace encore::conll
