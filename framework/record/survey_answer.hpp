// SPDX-License-Identifier: BSD-3-Clause
// SurveyRequest is what `exp app new` asks of the worker about a user's own file, as JSON on its standard
// input; SurveyAnswer is what the worker found. app/app_from_file.cpp writes the request and reads the
// answer, worker/survey_verb.cpp does the reverse. The request may change; `exp app new --json` prints the
// members of the answer, which keep their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"

namespace encore::record {

struct SurveyRequest {
  std::string file = {};
  std::string test = {};              ///< a second file, in the same form; empty: none
  std::string text = {}, label = {};  ///< columns that the user names; empty: propose them
  bool header = true;                 ///< the first line of a table names its columns
  std::vector<std::string> plugin_folders = {};
};
void list(auto& field, A<SurveyRequest> auto& request) {
  field("file", request.file);
  field("test", request.test);
  field("text", request.text);
  field("label", request.label);
  field("header", request.header);
  field("plugin_folders", request.plugin_folders);
}

/// A column of a table, or a key of JSON lines: "fields.body".
struct SurveyedColumn {
  std::string name = {};
  std::int64_t filled = 0, empty = 0;       ///< records with a value, and without one
  std::optional<std::int64_t> values = {};  ///< different values; none: more than are counted
  std::int64_t rarest = 0;                  ///< records of the rarest value; 0 if they are not counted
  double characters = 0.0, words = 0.0;     ///< mean of a value
  double numbers = 0.0, dates = 0.0, others = 0.0;  ///< shares: numbers, dates, lists of JSON
  std::string example = {};
};
void list(auto& field, A<SurveyedColumn> auto& column) {
  field("name", column.name);
  field("filled", column.filled);
  field("empty", column.empty);
  field("values", column.values);
  field("rarest", column.rarest);
  field("characters", column.characters);
  field("words", column.words);
  field("numbers", column.numbers);
  field("dates", column.dates);
  field("others", column.others);
  field("example", column.example);
}

/// The column that was chosen for a role, and why. No name: the candidates are too many or none.
struct ChosenColumn {
  std::string name = {};
  std::string why = {};
  std::vector<std::string> candidates = {};
};
void list(auto& field, A<ChosenColumn> auto& chosen) {
  field("name", chosen.name);
  field("why", chosen.why);
  field("candidates", chosen.candidates);
}

struct SurveyedClass {
  std::string label = {};
  std::int64_t records = 0;
};
void list(auto& field, A<SurveyedClass> auto& of) {
  field("label", of.label);
  field("records", of.records);
}

/// A text that several records have.
struct RepeatedText {
  std::string text = {};  ///< perhaps cut
  std::int64_t records = 0;
  std::vector<std::string> labels = {};
};
void list(auto& field, A<RepeatedText> auto& repeated) {
  field("text", repeated.text);
  field("records", repeated.records);
  field("labels", repeated.labels);
}

/// What the reader gave of one file.
struct SurveyedRecords {
  std::int64_t records = 0;
  std::int64_t invalid = 0;                 ///< rows that the reader refuses, such as those without a text
  std::string first_invalid = {};           ///< the note of the reader about them
  std::vector<SurveyedClass> classes = {};  ///< the most frequent first
  std::int64_t duplicates = 0;              ///< records whose text and label an earlier record has
  std::int64_t conflicts = 0;               ///< a text with several labels counts once
  std::vector<RepeatedText> duplicate_examples = {}, conflict_examples = {};
  double words = 0.0, long_words = 0.0;  ///< of a text: the mean, and what 99 % of them do not exceed
  std::int64_t characters = 0;           ///< of all records
};
void list(auto& field, A<SurveyedRecords> auto& of) {
  field("records", of.records);
  field("invalid", of.invalid);
  field("first_invalid", of.first_invalid);
  field("classes", of.classes);
  field("duplicates", of.duplicates);
  field("conflicts", of.conflicts);
  field("duplicate_examples", of.duplicate_examples);
  field("conflict_examples", of.conflict_examples);
  field("words", of.words);
  field("long_words", of.long_words);
  field("characters", of.characters);
}

/// What the second file has, and what both have.
struct SurveyedTest {
  SurveyedRecords found = {};
  std::int64_t leaks = 0;  ///< its records whose text the first file has
  std::vector<RepeatedText> leak_examples = {};
  std::vector<std::string> unknown_classes = {};  ///< that the first file lacks
};
void list(auto& field, A<SurveyedTest> auto& test) {
  list(field, test.found);
  field("leaks", test.leaks);
  field("leak_examples", test.leak_examples);
  field("unknown_classes", test.unknown_classes);
}

struct SurveyAnswer {
  std::string reader = {};     ///< "tsv" or "jsonl"
  std::string delimiter = {};  ///< of a table, as data.delimiter has it: "tab" or ","
  bool header = true;
  std::int64_t rows = 0;
  std::vector<SurveyedColumn> columns = {};
  ChosenColumn text = {}, label = {};
  std::optional<SurveyedRecords> found = {};  ///< none if a column could not be chosen
  std::optional<SurveyedTest> test = {};
};
void list(auto& field, A<SurveyAnswer> auto& answer) {
  field("reader", answer.reader);
  field("delimiter", answer.delimiter);
  field("header", answer.header);
  field("rows", answer.rows);
  field("columns", answer.columns);
  field("text", answer.text);
  field("label", answer.label);
  field("found", answer.found);
  field("test", answer.test);
}

}  // namespace encore::record
