// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of tasks and readers (framework/contract/task_checks.cpp, contract/reader_checks.cpp): the
// contract suite, which `exp plugin check` runs, gets tasks and readers with one mistake each and must name
// every mistake. Also the data and settings that an author gives (contract/suite.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include <encore/class_probabilities.hpp>
#include <encore/lines.hpp>
#include <encore/plugin.hpp>

#include "contract/findings.hpp"
#include "contract/suite.hpp"

namespace encore::testing {
namespace {

template <Kind K, class T>
Offer offer_of(const char* name) {
  Registrar registrar;
  registrar.add<K, T>(name);
  return registrar.offers().front();
}

// --- a task that gives each text its label ---

enum class Slip {
  none,
  too_long,
  short_column,
  class_out_of_range,
  order_counts,
  shares_memory,
  needs_truth,
  other_ids_without_truth,
  leaks_truth,
  knows_no_column,
  forgets_knowledge,
  counts_the_wrong,
  column_without_entries,
  blind,
  loses_an_example,
  labels_nothing,
  selects_by_a_family,
  foreign_field,
  takes_parts,
  draws_windows,
  few_labels,
  refuses_high_levels,
  miscounts_few_levels,
  // With these mistakes the task can answer questions, and gives probabilities.
  scores_well,
  scores_in_percent,
  scores_without_a_sum,
  scores_another_label,
  scores_another_answer,
  scores_nothing,
};

template <Slip S>
class Labeller final : public Task {
 public:
  static constexpr const char* select =
      S == Slip::selects_by_a_family ? "max dev/recall/rain" : "max dev/accuracy";
  static Schema options() {
    if (!has_levels) return {};
    return Schema().integer("levels", 5, {.help = "the highest level", .min = 2, .max = 1000});
  }
  static TaskFields fields() { return {{S == Slip::foreign_field ? "sonnet" : "text"}, {"label"}}; }
  static std::vector<Measure> measures() {
    return {{.name = "accuracy",
             .fraction = true,
             .reducer = Reducer::ratio,
             .columns = {S == Slip::column_without_entries ? "rihgt" : "right", "all"}},
            {.name = "recall/{label}",
             .fraction = true,
             .reducer = Reducer::ratio,
             .columns = {"found", "truth"},
             .always = false}};
  }

  Labeller(const Options& options, const TaskContext& context)
      : max_length_(static_cast<std::size_t>(context.max_length)),
        levels_(has_levels ? options.integer("levels") : 0) {}

  void prepare(const Records& train) override {
    names_ = train.texts("label");
    std::ranges::sort(names_);
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    if (names_.empty()) throw Error("no label");
    if (S == Slip::few_labels && names_ != std::vector<std::string>{"bad", "good"})
      throw Error("a label is good or bad, not \"" + names_.front() + "\"");
  }
  std::string knowledge() const override {
    std::string text;
    for (const std::string& name : names_) text += name + "\n";
    return text;
  }
  void restore(std::string_view knowledge) override {
    names_.clear();
    for (std::size_t end; (end = knowledge.find('\n')) != std::string_view::npos;
         knowledge.remove_prefix(end + 1))
      names_.emplace_back(knowledge.substr(0, end));
    if (S == Slip::forgets_knowledge) names_.pop_back();
  }
  std::vector<std::string> labels() const override { return names_; }
  bool takes_parts() const override { return S == Slip::takes_parts; }
  bool draws() const override { return S == Slip::draws_windows; }
  bool separates_sequences() const override { return S == Slip::draws_windows; }
  TextCounts text_counts(const Records& train) const override {
    TextCounts counts;
    for (const std::string& text : train.texts("text")) ++counts[text];
    return counts;
  }

  std::vector<ColumnRule> columns() const override {
    return {{.name = targets_column, .truth = true}, {.name = "rows"}};
  }
  std::vector<OutputRule> outputs() const override {
    return {{.name = classes_output, .truth = S == Slip::knows_no_column ? "target" : targets_column}};
  }
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    const bool known = S == Slip::needs_truth || records.has("label");
    to.ids = {tokenizer.special(Special::start)};
    tokenizer.encode(records.texts("text")[record], to.ids);
    if (S == Slip::order_counts) to.ids.push_back(calls_++ % 50);
    if (S == Slip::shares_memory) {
      const std::int32_t mine = ++calls_;
      for (int i = 0; i < 20; ++i) std::this_thread::yield();
      to.ids.back() = (calls_ - mine) % 50;
    }
    if (S == Slip::other_ids_without_truth && !known) to.ids.push_back(5);
    if (S != Slip::too_long && to.ids.size() > max_length_) to.ids.resize(max_length_);
    to.integers(1).assign(to.ids.size(), S == Slip::leaks_truth && known ? 1 : 0);
    if (!known) return;
    to.integers(0).assign(to.ids.size() - (S == Slip::short_column ? 1 : 0), no_target);
    to.integers(0).front() = number(records.texts("label")[record]);
  }
  SetDescription describe(const ExampleSet&) const override { return {}; }

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    const std::size_t column = set.column(targets_column);
    for (std::size_t i = S == Slip::loses_an_example ? 1 : 0; i < set.size(); ++i) {
      const std::int32_t truth = set.integers(column, i).front(),
                         predicted = outputs.integers(classes_output, set, i).front();
      const bool right = S == Slip::blind || (truth == predicted) != (S == Slip::counts_the_wrong);
      statistics.begin_example();
      statistics.add("all", 1);
      statistics.add("right", right ? 1 : 0);
    }
  }
  Records label(const Records&, const ExampleSet& set, const Outputs& outputs) const override {
    Records::Texts labels;
    for (std::size_t i = 0; i < set.size(); ++i)
      labels.push_back(names_[static_cast<std::size_t>(outputs.integers(classes_output, set, i).front())]);
    Records records;
    if (S != Slip::labels_nothing) records.add("label", std::move(labels));
    return records;
  }

  Records from_text(std::span<const std::string> lines) const override {
    if (!can_be_asked) return Task::from_text(lines);
    Records records;
    records.add("text", Records::Texts(lines.begin(), lines.end()));
    return records;
  }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override {
    Records answers = label(records, set, outputs);
    answers.add("shown", answers.texts("label"));
    return answers;
  }
  std::string no_scores(std::span<const OutputRule> given) const override {
    return can_be_asked ? ClassProbabilities::missing(given, Space::tokens, names_.size()) : "it has none";
  }
  Records scored_answer(const Records& records, const ExampleSet& set,
                        const Outputs& outputs) const override {
    const ClassProbabilities probabilities(outputs);
    Records::Texts labels = label(records, set, outputs).texts("label");
    Records::Numbers scores;
    Records::NumberMaps all;
    for (std::size_t i = 0; i < set.size(); ++i) {
      std::vector<double> of_text = probabilities.of(set, i, 0);
      for (double& each : of_text) each *= S == Slip::scores_in_percent ? 100.0 : 1.0;
      if (S == Slip::scores_without_a_sum) of_text.back() = 0.0;
      const auto chosen = static_cast<std::size_t>(outputs.integers(classes_output, set, i).front());
      scores.push_back(of_text[S == Slip::scores_another_label ? (chosen + 1) % of_text.size() : chosen]);
      all.emplace_back();
      for (std::size_t k = 0; k < of_text.size(); ++k) all.back()[names_[k]] = of_text[k];
    }
    if (S == Slip::scores_another_answer) labels.front() += "?";
    Records answers;
    answers.add("shown", labels);
    answers.add("label", std::move(labels));
    if (S == Slip::scores_nothing) return answers;
    answers.add("score", std::move(scores));
    answers.add("scores", std::move(all));
    return answers;
  }

 private:
  static constexpr bool can_be_asked = S >= Slip::scores_well;
  static constexpr bool has_levels = S == Slip::refuses_high_levels || S == Slip::miscounts_few_levels;

  std::int32_t number(const std::string& label) const {
    const auto found = std::ranges::find(names_, label);
    if (found == names_.end()) return no_target;
    const auto number = static_cast<std::int32_t>(found - names_.begin());
    if (S == Slip::refuses_high_levels && number >= levels_)
      throw Error("invalid level " + std::to_string(number + 1) + ": expected a whole number from 1 to " +
                  std::to_string(levels_));
    if (S == Slip::miscounts_few_levels && levels_ == 2) return number + 1;
    return S == Slip::class_out_of_range ? number + 1 : number;
  }

  std::size_t max_length_;
  std::int64_t levels_;
  std::vector<std::string> names_;
  mutable std::atomic<std::int32_t> calls_ = 0;
};

template <Slip S>
std::string said_of(const contract::CheckData& data = {}) {
  return failures(findings_of(offer_of<Kind::task, Labeller<S>>("labeller"), data));
}

TEST(SuiteFinds, NothingInATaskWithoutMistake) {
  EXPECT_EQ(said_of<Slip::none>(), "");
  EXPECT_EQ(findings_of(offer_of<Kind::task, Labeller<Slip::none>>("labeller")).size(), 13U);
  EXPECT_EQ(said_of<Slip::scores_well>(), "");
}

TEST(SuiteFinds, ScoresThatCannotBeProbabilities) {
  expect_said(said_of<Slip::scores_in_percent>(), "in \"score\", which is not a probability");
  expect_said(said_of<Slip::scores_without_a_sum>(), "scores: the scores of one answer sum to 0.");
  expect_said(said_of<Slip::scores_another_label>(), "though the class is the one with the largest logit");
  expect_said(said_of<Slip::scores_another_answer>(),
              "scores: scored_answer() has another value in \"label\" than answer()");
  expect_said(said_of<Slip::scores_nothing>(),
              "scores: scored_answer() gives neither \"score\" nor \"scores\" nor spans with scores");
}

TEST(SuiteFinds, ATaskThatWritesWhatDoesNotFit) {
  expect_said(said_of<Slip::too_long>(), "encoding: the task gives ");
  expect_said(said_of<Slip::too_long>(), "it must be at least 1 and at most data.max_length = 8");
  expect_said(said_of<Slip::short_column>(), " values of column \"targets\" for record 1, which needs ");
  expect_said(
      said_of<Slip::class_out_of_range>(),
      "the task gives the target 3 in the column \"targets\", and has 3 classes with max_length = 256");
  expect_said(said_of<Slip::knows_no_column>(),
              "the output \"classes\" has the truth \"target\", which is not a column of its kind");
}

std::string detail_of(const std::vector<contract::Finding>& findings, const std::string& check) {
  const auto found = std::ranges::find(findings, check, &contract::Finding::check);
  return found == findings.end() ? "no such check" : found->detail;
}

TEST(Suite, ReportsAVariedValueThatATaskRefuses) {
  const Offer offer = offer_of<Kind::task, Labeller<Slip::refuses_high_levels>>("labeller");
  const std::vector<contract::Finding> findings = findings_of(offer);
  EXPECT_EQ(failures(findings), "");
  EXPECT_NE(detail_of(findings, "encoding").find("; refused with levels = 2: record "), std::string::npos)
      << detail_of(findings, "encoding");
  EXPECT_NE(detail_of(findings, "encoding").find(": invalid level 3: expected a whole number from 1 to 2"),
            std::string::npos)
      << detail_of(findings, "encoding");
}

TEST(Suite, DoesNotVaryAnOptionThatIsGiven) {
  const Offer offer = offer_of<Kind::task, Labeller<Slip::refuses_high_levels>>("labeller");
  for (const char* setting : {"task.levels=5", "levels=4"}) {
    const std::vector<contract::Finding> findings =
        findings_of(contract::with_settings({offer}, {setting}).front());
    EXPECT_EQ(failures(findings), "") << setting;
    EXPECT_EQ(detail_of(findings, "encoding"), "6 sets: lengths within max_length, columns that fit");
  }
  expect_said(failures(findings_of(contract::with_settings({offer}, {"levels=2"}).front())),
              ": invalid level 3: expected a whole number from 1 to 2");
}

TEST(SuiteFinds, AMistakeWithAVariedValueOnly) {
  expect_said(said_of<Slip::miscounts_few_levels>(), "encoding: with levels = 2: the task gives the target ");
}

TEST(SuiteFinds, ATaskWhoseEncodingIsNoPureFunction) {
  expect_said(said_of<Slip::order_counts>(),
              ", encoded in another order, gives other numbers; encode is a pure function of the record");
  expect_said(said_of<Slip::shares_memory>(), "four threads that encode at once disturb each other");
}

TEST(SuiteFinds, ATaskThatCannotPredict) {
  expect_said(said_of<Slip::needs_truth>(), "prediction: record 1: the records have no field \"label\"");
  expect_said(said_of<Slip::other_ids_without_truth>(),
              "prediction: without the truth the records have other ids");
  expect_said(said_of<Slip::leaks_truth>(),
              "prediction: without the truth the column \"rows\" has other values; columns() declares it as "
              "independent of the truth");
}

TEST(SuiteFinds, ATaskThatForgetsWhatItKnew) {
  expect_said(said_of<Slip::forgets_knowledge>(), "knowledge: restore(knowledge()) gives other labels()");
}

TEST(SuiteFinds, MeasuresThatMeanNothing) {
  expect_said(said_of<Slip::counts_the_wrong>(),
              "measures: measure \"accuracy\" is 0.000000 for perfect outputs and ");
  expect_said(
      said_of<Slip::column_without_entries>(),
      "measures: measure \"accuracy\" is always there, but nothing is added to its column \"rihgt\"; did you "
      "mean \"right\"?");
  expect_said(said_of<Slip::blind>(),
              "measures: measure \"accuracy\", by which it selects, is the same for perfect outputs and for "
              "arbitrary ones");
  expect_said(said_of<Slip::loses_an_example>(), "measures: measure() begins 9 examples for 10");
  expect_said(said_of<Slip::selects_by_a_family>(),
              "declaration: its select is \"max dev/recall/rain\", which some data lack");
}

TEST(SuiteFinds, ATaskThatLabelsNothing) {
  expect_said(said_of<Slip::labels_nothing>(),
              "labelling: label() gives no field \"label\", which fields() names as truth");
}

// --- a reader of label<TAB>text ---

enum class Fault {
  none,
  lies_about_fields,
  names_no_file,
  has_a_memory,
  writes_otherwise,
  begins_each_part_anew,
  cuts_off_headings,
  reads_nothing,
  drops_rows,
  loses_the_last_line,
  keeps_the_mark,
  keeps_returns,
  refuses_nul_without_the_file,
  asks_other_words,
  loses_a_question,
  writes_no_answers,
};

template <Fault F>
class Rows final : public Reader {
 public:
  static Schema options() { return {}; }
  static std::vector<std::string> fields() {
    if (F == Fault::lies_about_fields) return {"text", "label", "source"};
    return {"text", "label"};
  }
  Rows(const Options&, const ReaderContext&) {}

  Records read(std::span<const InputText> files, const std::string&) const override {
    Records::Texts texts, labels;
    for (const InputText& file : files) {
      if (F == Fault::reads_nothing) throw Error(of(file) + "not the format of this reader");
      std::string_view text = file.text;
      if (F == Fault::refuses_nul_without_the_file && text.find('\0') != std::string_view::npos)
        throw Error("NUL");
      if (F != Fault::keeps_the_mark && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
      for (const std::string_view line : lines_of(text)) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos) throw Error(of(file) + "no tab");
        if (F == Fault::cuts_off_headings && line.data() == file.text.data()) continue;
        if (F == Fault::drops_rows && texts.size() == 6 && dropped_++ == 0) continue;
        labels.emplace_back(line.substr(0, tab));
        texts.emplace_back(line.substr(tab + 1));
      }
    }
    dropped_ = 0;
    if (F == Fault::has_a_memory && reads_++ % 2 == 1)
      for (std::string& text : texts) text += "!";
    Records records;
    records.add("text", std::move(texts));
    records.add("label", std::move(labels));
    return records;
  }
  Cut cut() const override { return F == Fault::cuts_off_headings ? Cut::lines : Cut::nowhere; }
  std::optional<Records> read_questions(const InputText& file) const override {
    constexpr Fault asking[] = {Fault::asks_other_words, Fault::loses_a_question, Fault::writes_no_answers};
    if (std::ranges::find(asking, F) == std::end(asking)) return std::nullopt;
    Records::Texts texts = read({&file, 1}, "file").texts("text");
    if (F == Fault::asks_other_words)
      for (std::string& text : texts) text += "?";
    if (F == Fault::loses_a_question && !texts.empty()) texts.pop_back();
    Records records;
    records.add("text", std::move(texts));
    return records;
  }
  std::string write(const Records& records, FilePart part) const override {
    std::string text = F == Fault::begins_each_part_anew && part == FilePart::later ? "again\tagain\n" : "";
    const char* between = F == Fault::writes_otherwise ? "\t " : "\t";
    for (std::size_t i = 0; i < records.size(); ++i)
      text += records.texts("label")[i] + between + records.texts("text")[i] + "\n";
    return text;
  }

 private:
  static std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> all;
    if (F == Fault::keeps_returns || F == Fault::loses_the_last_line) {
      for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
        std::string_view line = text.substr(0, end);
        if (F == Fault::loses_the_last_line && line.ends_with('\r')) line.remove_suffix(1);
        all.push_back(line);
      }
      if (F == Fault::keeps_returns && !text.empty()) all.push_back(text);
      return all;
    }
    Lines lines(text);
    while (lines.next()) all.push_back(lines.line());
    return all;
  }
  static std::string of(const InputText& file) { return F == Fault::names_no_file ? "" : file.name + ": "; }
  mutable int reads_ = 0;
  mutable int dropped_ = 0;
};

template <Fault F>
std::string said_of(const contract::CheckData& data = {}) {
  return failures(findings_of(offer_of<Kind::reader, Rows<F>>("rows"), data));
}

TEST(SuiteFinds, NothingInAReaderWithoutMistake) {
  EXPECT_EQ(said_of<Fault::none>(), "");
  EXPECT_EQ(findings_of(offer_of<Kind::reader, Rows<Fault::none>>("rows")).size(), 8U);
}

TEST(SuiteFinds, AReaderThatLiesAboutItsFields) {
  expect_said(said_of<Fault::lies_about_fields>(),
              "fields: the records of empty.txt have no field \"source\", which fields() names");
}

TEST(SuiteFinds, AReaderWhoseOptionalFieldHasNoOption) {
  Offer reader = offer_of<Kind::reader, Rows<Fault::none>>("rows");
  reader.options.choice("form", "names", {"names", "numbers"}, {.help = "what a label is"});
  const auto said = [&](std::vector<OptionalField> fields) {
    reader.may_give = std::move(fields);
    return failures(findings_of(reader));
  };
  EXPECT_EQ(said({{"number", "form", "numbers"}, {"spans"}}), "");
  expect_said(said({{"number", "kind"}}),
              "fields: optional_fields() says that option \"kind\" adds \"number\", but options() does not "
              "declare it");
  expect_said(
      said({{"number", "form", "shares"}}),
      "fields: optional_fields() says that form = \"shares\" adds \"number\", but the choices of this "
      "option lack that value");
  expect_said(said({{"number", "", "numbers"}}),
              "fields: optional_fields() names a value for \"number\" without an option");
}

TEST(SuiteFinds, AReaderThatRefusesWithoutTheFile) {
  expect_said(said_of<Fault::names_no_file>(),
              "refusals: the error about newlines.txt does not name the file: no tab");
}

TEST(SuiteFinds, AReaderWithAMemory) {
  expect_said(said_of<Fault::has_a_memory>(),
              "same records: read twice, rows.tsv gives other records; read is a pure function of the bytes");
}

TEST(SuiteFinds, AReaderThatWritesWhatItReadsOtherwise) {
  expect_said(said_of<Fault::writes_otherwise>(),
              "writing: the file written from rows.tsv is read as other records");
}

TEST(SuiteFinds, AReaderThatTreatsEachPartAsAFile) {
  expect_said(
      said_of<Fault::begins_each_part_anew>(),
      "writing: the file written from rows.tsv as a first and a later part is not read as the records twice");
}

TEST(SuiteFinds, AReaderWhoseFilesMustNotBeCut) {
  expect_said(said_of<Fault::cuts_off_headings>(),
              "cutting: cut where cut() allows it, rows.tsv gives other records");
}

TEST(SuiteFinds, AReaderThatReadsNothing) {
  expect_said(said_of<Fault::reads_nothing>(),
              "fields: none of the 13 files of the suite gives a record, so reading was not checked; name a "
              "file of this format: --data FILE");
  expect_said(said_of<Fault::reads_nothing>({.files = {{.name = "mine.tsv", .text = "a\tb\n"}}}),
              "fields: neither the file of --data nor a sample of the suite gives a record");
}

TEST(SuiteFinds, AReaderWhoseQuestionsAreNotItsRecords) {
  expect_said(said_of<Fault::asks_other_words>(),
              "questions: read_questions of rows.tsv gives a field \"text\" that read does not give, or "
              "gives with other values");
  expect_said(said_of<Fault::loses_a_question>(),
              "questions: read_questions of rows.tsv gives 1 records, and read gives 2");
}

TEST(SuiteFinds, AReaderThatAsksAndWritesNoAnswers) {
  expect_said(said_of<Fault::writes_no_answers>(),
              "questions: write_answers throws for the records of rows.tsv: this reader reads questions and "
              "does not write answers");
}

TEST(SuiteFinds, AReaderThatDropsARow) {
  expect_said(said_of<Fault::drops_rows>(),
              "writing: of 10 records that it writes it reads 9; every row becomes a record");
}

TEST(SuiteFinds, AReaderThatStumblesOverTheFormOfAFile) {
  expect_said(said_of<Fault::loses_the_last_line>(),
              "forms of files: rows.tsv without a newline at its end gives 1 records instead of 2");
  expect_said(said_of<Fault::keeps_the_mark>(),
              "forms of files: rows.tsv with a byte order mark in front gives other values");
  expect_said(said_of<Fault::keeps_returns>(),
              "forms of files: rows.tsv with CRLF line ends gives other values");
  expect_said(said_of<Fault::refuses_nul_without_the_file>(),
              "forms of files: rows.tsv with a NUL byte is refused without the name of the file: NUL");
}

// --- a file of the author's own ---

TEST(SuiteFinds, WhatIsWrongWithTheFileOfTheAuthor) {
  contract::CheckData data{.files = {{.name = "mine.tsv", .text = "no tab here\n"}}};
  expect_said(said_of<Fault::none>(data), "file of --data: it is refused: mine.tsv: no tab");
  data.files.front().text = "";
  expect_said(said_of<Fault::none>(data), "file of --data: it gives no record");
  data.files.front().text = "a\tb\n";
  EXPECT_EQ(said_of<Fault::none>(data), "");
}

TEST(SuiteFinds, ATaskMayGetItsRecordsFromTheFileOfTheAuthor) {
  const contract::CheckData data{
      .files = {{.name = "mine.tsv", .text = "good\tnever better\nbad\tthe worst\ngood\tfine work\n"}},
      .readers = {offer_of<Kind::reader, Rows<Fault::none>>("rows")}};
  const std::vector<contract::Finding> findings =
      findings_of(offer_of<Kind::task, Labeller<Slip::none>>("labeller"), data);
  EXPECT_EQ(failures(findings), "");
  const auto labels = std::ranges::find(findings, "labels", &contract::Finding::check);
  ASSERT_NE(labels, findings.end());
  EXPECT_TRUE(labels->detail.starts_with("2 classes")) << labels->detail;
}

TEST(SuiteFinds, ATaskWithADomainOfItsOwnPassesWithAFileOfItsAuthor) {
  expect_said(said_of<Slip::few_labels>(),
              "labels: a label is good or bad, not \"person\"; if it takes fewer values than the suite's "
              "samples have, name a file of its own: --data FILE -S data.type=READER");
  contract::CheckData data{.files = {{.name = "mine.tsv", .text = "good\tnever better\nbad\tthe worst\n"}}};
  expect_said(said_of<Slip::few_labels>(data),
              "labels: --data mine.tsv: the plugin has no reader for it; name one that gives \"text\", "
              "\"label\", as in -S data.type=tsv");
  data.readers = {offer_of<Kind::reader, Rows<Fault::none>>("rows")};
  EXPECT_EQ(said_of<Slip::few_labels>(data), "");
}

/// Needs two options, one of them without a default.
class Needy final : public Schedule {
 public:
  static Schema options() {
    return Schema()
        .required("peak", OptionType::number, {.help = "largest factor", .min = 0.0, .max = 50.0})
        .integer("period", 4, {.help = "steps", .unit = "steps", .min = 1});
  }
  Needy(const Options& options, const ScheduleContext&) : peak_(options.number("peak")) {
    if (!options.given("peak") || peak_ == 0.0) throw OptionError("peak", "a peak of 0 learns nothing");
  }
  double factor(std::int64_t) const override { return peak_; }

 private:
  double peak_;
};

TEST(Settings, TakeThePlaceOfDefaults) {
  const Offer offer = offer_of<Kind::schedule, Needy>("needy");
  EXPECT_EQ(plugin_host::default_options(offer.options).number("peak"), 0.0);
  for (const char* setting : {"peak=2.5", "schedule.peak=2.5"}) {
    const std::vector<Offer> chosen = contract::with_settings({offer}, {setting});
    EXPECT_EQ(failures(findings_of(chosen.front())), "") << setting;
    EXPECT_EQ(plugin_host::default_options(chosen.front().options).number("peak"), 2.5);
    EXPECT_EQ(plugin_host::default_options(chosen.front().options).integer("period"), 4);
  }
}

std::string refusal_of(const std::string& setting) {
  try {
    contract::with_settings({offer_of<Kind::schedule, Needy>("needy")}, {setting});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(refusal_of("peek=2"),
            "-S peek=2: nothing that is checked has an option \"peek\"; did you mean \"peak\"?");
  EXPECT_EQ(refusal_of("task.peak=2"), "-S task.peak=2: nothing that is checked has an option \"task.peak\"");
  EXPECT_EQ(refusal_of("peak=high"),
            "-S peak=high: option \"peak\" of schedule \"needy\" must be a number, found text \"high\"");
  EXPECT_EQ(contract::chosen_reader({"peak=2", "data.type=tsv"}), "tsv");
  EXPECT_EQ(contract::chosen_reader({"peak=2"}), "");
}

TEST(SuiteFinds, ATaskThatLearnsFromPartsWhatItMustLearnFromTheWhole) {
  expect_said(
      said_of<Slip::takes_parts>(),
      "parts: takes_parts() is true, but it learns something else from another part of a training set");
}

TEST(SuiteFinds, ATaskThatDrawsExamplesThatBatchesCut) {
  expect_said(said_of<Slip::draws_windows>(),
              "drawing: draws() and separates_sequences() are both true; draws need whole examples");
}

TEST(SuiteFinds, AFieldThatHasNoSamples) {
  expect_said(
      said_of<Slip::foreign_field>(),
      "labels: it needs the field \"sonnet\", which is not a shared one (encore/records.hpp), so "
      "there "
      "are no samples to check it with; offer its reader in the same plugin and name a file of yours: --data "
      "FILE");
}

}  // namespace
}  // namespace encore::testing
