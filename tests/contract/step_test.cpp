// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks of steps (framework/contract/step_checks.cpp): the contract suite, which `exp plugin
// check` runs, gets steps with one mistake each and must name every mistake. suite_test.cpp shows that the
// steps that ship pass. A new check gets a mistake here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <encore/lines.hpp>
#include <encore/plugin.hpp>

#include "contract/findings.hpp"
#include "contract/suite.hpp"

namespace encore::testing {
namespace {

template <class T>
std::string said_of(const contract::CheckData& data = {}) {
  Registrar registrar;
  registrar.add<Kind::step, T>("sorter");
  return failures(findings_of(registrar.offers().front(), data));
}

enum class Slip {
  none,
  sees_the_batch,
  counts_calls,
  order_counts,
  reads_the_truth,
  gives_an_undeclared_field,
  gives_too_little,
  gives_infinity,
  gives_other_types,
  names_a_field_twice,
  changes_its_fields,
  learns_without_fit,
  knows_the_time,
  knows_its_folder,
  forgets,
  restores_anything,
  restores_a_half,
  throws_another_type,
  forgets_the_limit,
  measures_too_little,
  measures_the_set,
  measures_infinity,
  misspells_a_column,
  ignores_its_file,
  needs_more_records,
};

int& calls() {
  static int count = 0;
  return count;
}

/// Gives long text one label and short text another; fit() takes the mean length of the development set as
/// the limit.
template <Slip S>
class Sorter final : public AppStep {
 public:
  static constexpr const char* select = "max dev/accuracy";
  static Schema options() {
    return Schema()
        .boolean("letters", false, {.help = "count letters, not bytes"})
        .number("factor", 1.0, {.help = "factor on the limit", .min = 0.0, .max = 4.0});
  }
  static std::vector<Measure> measures() {
    return {{.name = "accuracy", .fraction = true, .reducer = Reducer::ratio, .columns = {"right", "all"}}};
  }
  Sorter(const Options& options, const StepContext& context)
      : factor_(options.number("factor")), folder_(context.folder) {}

  StepFields fields() const override {
    StepFields fields{.reads = {"text"}, .truth = {"label"}, .gives = {"label", "length"}};
    if (S == Slip::names_a_field_twice) fields.reads.push_back("label");
    if (S == Slip::changes_its_fields && limit_ > 0.0) fields.reads.push_back("text2");
    return fields;
  }
  bool learns() const override { return S == Slip::learns_without_fit; }
  bool is_fitted() const override { return S != Slip::learns_without_fit; }
  void fit(const StepSets& sets) override {
    const Records::Texts& texts = sets.dev.texts("text");
    if (texts.empty()) throw Error("there is no text");
    if (S == Slip::needs_more_records && texts.size() < 1000) throw Error("expected 1000 records or more");
    double sum = 0.0;
    for (const std::string& text : texts) sum += static_cast<double>(text.size());
    limit_ = std::round(factor_ * sum / static_cast<double>(texts.size()));
    if (S == Slip::knows_the_time) limit_ += ++calls();
    if (S != Slip::ignores_its_file && S != Slip::knows_its_folder) return;
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "limit.txt") << limit_;
  }
  std::string knowledge() const override {
    if (S == Slip::learns_without_fit || S == Slip::forgets) return {};
    if (S == Slip::knows_its_folder) return "limit in " + folder_.string() + " end";
    std::ostringstream text;
    text << "limit " << limit_ << " end";
    return text.str();
  }
  void restore(std::string_view knowledge) override {
    if (S == Slip::restores_anything) return;
    if (S == Slip::learns_without_fit) return AppStep::restore(knowledge);
    if (S == Slip::throws_another_type && knowledge.empty()) throw std::out_of_range("no text");
    const bool is_whole = knowledge.ends_with(" end");
    if (!knowledge.starts_with("limit") || (!is_whole && S != Slip::restores_a_half))
      throw Error("this is not the knowledge of a sorter");
    if (S != Slip::forgets_the_limit) std::istringstream(std::string(knowledge.substr(6))) >> limit_;
  }

  Records apply(const Records& records) override {
    const Records::Texts& texts = records.texts("text");
    Records::Texts labels;
    Records::Numbers lengths;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      double length = static_cast<double>(texts[i].size());
      if (S == Slip::sees_the_batch) length += 1e-9 * static_cast<double>(texts.size());
      if (S == Slip::counts_calls) length += 1e-9 * ++calls();
      if (S == Slip::order_counts && i > 0) length += static_cast<double>(texts[i - 1].size());
      if (S == Slip::reads_the_truth && records.has("label")) length += 1.0;
      if (S == Slip::gives_infinity && length < 5.0) length = HUGE_VAL;
      labels.emplace_back(length > limit_ ? "person" : "place");
      lengths.push_back(length);
    }
    if (S == Slip::gives_too_little) lengths.pop_back(), labels.pop_back();
    Records given;
    if (S == Slip::gives_other_types && texts.size() == 1)
      given.add("label", Records::TextLists{{labels.front()}});
    else
      given.add("label", labels);
    given.add("length", lengths);
    if (S == Slip::gives_an_undeclared_field) given.add("lenght", lengths);
    return given;
  }
  void measure(const Records& records, const Records& given, Statistics& statistics) const override {
    const std::size_t count = records.size() - (S == Slip::measures_too_little ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) {
      statistics.begin_example();
      const bool is_right = given.texts("label")[i] == records.texts("label")[i];
      const double one = S == Slip::measures_the_set ? static_cast<double>(count) : 1.0;
      statistics.add(S == Slip::misspells_a_column ? "rigth" : "right", is_right ? one : 0.0);
      statistics.add("all", S == Slip::measures_infinity ? HUGE_VAL : one);
    }
  }

 private:
  double factor_, limit_ = 0.0;
  std::filesystem::path folder_;
};

TEST(StepSuite, FindsNothingInARightStep) {
  EXPECT_EQ(said_of<Sorter<Slip::none>>(), "");
}

TEST(StepSuite, FindsAnswersThatDependOnTheBatch) {
  expect_said(
      said_of<Sorter<Slip::sees_the_batch>>(),
      "answers: record 1, asked alone, gets another value in \"length\"; expected equal bits, because "
      "the answer to a record depends on this record alone");
  expect_said(said_of<Sorter<Slip::order_counts>>(), "asked alone, gets another value in \"l");
  expect_said(said_of<Sorter<Slip::gives_other_types>>(),
              "answers: record 1, asked alone, gets another value in \"label\"");
}

TEST(StepSuite, FindsStateBetweenCalls) {
  expect_said(said_of<Sorter<Slip::counts_calls>>(),
              "answers: record 1, asked again, gets another value in \"length\"");
}

TEST(StepSuite, FindsAnswersThatDependOnTheTruth) {
  expect_said(said_of<Sorter<Slip::reads_the_truth>>(),
              "answers: record 1, asked without the truth, gets another value in \"length\"");
}

TEST(StepSuite, FindsAnAnswerThatIsNotDeclared) {
  expect_said(said_of<Sorter<Slip::gives_an_undeclared_field>>(),
              "answers: apply() gives the field \"lenght\", which fields() does not name; did you mean "
              "\"length\"?");
}

TEST(StepSuite, FindsAMissingAnswer) {
  expect_said(said_of<Sorter<Slip::gives_too_little>>(),
              "answers: apply() gives 79 values per field for 80 records; expected one for each record");
}

TEST(StepSuite, FindsANumberThatIsNotFinite) {
  expect_said(said_of<Sorter<Slip::gives_infinity>>(), "answers: apply() gives inf in \"length\"");
}

TEST(StepSuite, FindsInvalidFields) {
  expect_said(said_of<Sorter<Slip::names_a_field_twice>>(), "fields: ");
  expect_said(said_of<Sorter<Slip::changes_its_fields>>(), "fields: fields() changes with fit()");
  expect_said(said_of<Sorter<Slip::learns_without_fit>>(),
              "fields: learns() is true and is_fitted() is false");
}

TEST(StepSuite, FindsAFitThatIsNotAFunctionOfItsData) {
  expect_said(said_of<Sorter<Slip::knows_the_time>>(),
              "fitting: fit() called again with equal records gives other knowledge() or notes()");
  expect_said(said_of<Sorter<Slip::knows_its_folder>>(),
              "fitting: fit() of another object with equal records gives other knowledge()");
}

TEST(StepSuite, FindsKnowledgeThatIsNotStored) {
  expect_said(said_of<Sorter<Slip::forgets>>(), "fitting: knowledge() is empty after fit()");
  expect_said(said_of<Sorter<Slip::forgets_the_limit>>(),
              "knowledge: knowledge() of a restored step differs from the text that it was restored from");
}

TEST(StepSuite, FindsARestoreThatAcceptsDamage) {
  expect_said(said_of<Sorter<Slip::restores_anything>>(), "knowledge: ");
  expect_said(said_of<Sorter<Slip::restores_a_half>>(),
              "knowledge: restore() accepts knowledge() without its last character; expected an Error");
  expect_said(said_of<Sorter<Slip::throws_another_type>>(),
              "knowledge: restore() of an empty text throws something else than encore::Error: no text");
}

TEST(StepSuite, FindsAFileOfTheFitThatMayChange) {
  expect_said(
      said_of<Sorter<Slip::ignores_its_file>>(),
      "knowledge: neither restore() nor apply() notices that the file limit.txt of fit() has changed");
}

TEST(StepSuite, FindsMeasuresThatMissARecordOrDependOnOthers) {
  expect_said(said_of<Sorter<Slip::measures_too_little>>(),
              "measure() begins 79 examples for 80 records; expected begin_example() once for each record");
  expect_said(said_of<Sorter<Slip::measures_the_set>>(),
              "measures: record 1, measured alone, adds other values than in its set");
  expect_said(said_of<Sorter<Slip::measures_infinity>>(), "measure() adds inf to the column \"all\"");
  expect_said(said_of<Sorter<Slip::misspells_a_column>>(),
              "measures: measure \"accuracy\" reads the column \"right\", to which nothing is added, and no "
              "measure reads \"rigth\"");
}

TEST(StepSuite, NamesTheRemedyIfTheSamplesDoNotSuffice) {
  expect_said(
      said_of<Sorter<Slip::needs_more_records>>(),
      "expected 1000 records or more; if it needs other records than those of the suite, name a file of "
      "its own: --data FILE -S data.type=READER");
}

// --- a file of the author's own ---

/// One record per line: the label, a tab, the text.
class Rows final : public Reader {
 public:
  static Schema options() { return {}; }
  static std::vector<std::string> fields() { return {"text", "label"}; }
  Rows(const Options&, const ReaderContext&) {}
  Records read(std::span<const InputText> files, const std::string&) const override {
    Records::Texts texts, labels;
    for (Lines lines(files.front().text); lines.next();) {
      const std::size_t tab = lines.line().find('\t');
      labels.emplace_back(lines.line().substr(0, tab));
      texts.emplace_back(lines.line().substr(tab + 1));
    }
    Records records;
    records.add("text", std::move(texts));
    records.add("label", std::move(labels));
    return records;
  }
};

/// Accepts the labels of its author's file only.
class Picky final : public AppStep {
 public:
  static Schema options() { return {}; }
  Picky(const Options&, const StepContext& context) : before_(context.before) {}
  StepFields fields() const override {
    return {.reads = {"text", before_ + ".scores"}, .truth = {"label"}, .gives = {"good"}};
  }
  Records apply(const Records& records) override {
    Records::Numbers good;
    for (const auto& scores : records.maps(before_ + ".scores")) {
      if (!scores.contains("good")) throw Error("there is no class \"good\"");
      good.push_back(scores.at("good"));
    }
    Records given;
    given.add("good", std::move(good));
    return given;
  }

 private:
  std::string before_;
};

TEST(StepSuite, TakesTheRecordsOfTheAuthorsFile) {
  Registrar registrar;
  registrar.add<Kind::reader, Rows>("rows");
  const contract::CheckData data{
      .files = {{.name = "mine.tsv", .text = "good\tnever better\nbad\tthe worst\ngood\tfine work\n"}},
      .readers = registrar.offers()};
  expect_said(said_of<Picky>(), "there is no class \"good\"; if it needs other records");
  EXPECT_EQ(said_of<Picky>(data), "");
  EXPECT_EQ(said_of<Sorter<Slip::none>>(data), "");
}

// --- steps that ask a model, and steps whose options need each other ---

/// Gives the vector of the model and, as an error, its probabilities rounded for the batch.
template <bool batched>
class Asking final : public AppStep {
 public:
  static constexpr bool asks_model = true;
  static Schema options() { return {}; }
  Asking(const Options&, const StepContext& context) : model_(context.model) {}
  StepFields fields() const override {
    return model_ == nullptr ? StepFields() : StepFields{.reads = model_->fields().structure, .truth = {}};
  }
  Records apply(const Records& records) override {
    const Records answers = model_->answer(records);
    Records::Numbers scores = answers.numbers("score");
    if (batched)
      for (double& score : scores) score /= static_cast<double>(scores.size());
    Records given;
    given.add("score", scores);
    given.add(vector_field, model_->vectors(records.texts("text")));
    return given;
  }

 private:
  StepModel* model_;
};

TEST(StepSuite, ChecksAStepThatAsksAModel) {
  EXPECT_EQ(said_of<Asking<false>>(), "");
  expect_said(said_of<Asking<true>>(), "asked alone, gets another value in \"score\"");
}

/// Reads the answer of a model that reads other fields than those of the suite. With `early` its constructor
/// refuses them.
template <bool early>
class AskingForSpans final : public AppStep {
 public:
  static constexpr bool asks_model = true;
  static Schema options() { return {}; }
  AskingForSpans(const Options&, const StepContext& context) : model_(context.model) {
    if (early && model_ != nullptr) throw OptionError("model", "the model gives no spans");
  }
  StepFields fields() const override { return {.reads = {"text"}, .truth = {}}; }
  Records apply(const Records& records) override {
    Records given;
    given.add("spans", model_->answer(records).spans("spans"));
    return given;
  }

 private:
  StepModel* model_;
};

template <class T>
void expect_unchecked() {
  Registrar registrar;
  registrar.add<Kind::step, T>("asking");
  const std::vector<contract::Finding> findings = findings_of(registrar.offers().front());
  EXPECT_EQ(failures(findings), "");
  EXPECT_TRUE(findings.back().unchecked);
  expect_said(findings.back().detail, "it cannot work with the models of the suite, which give \"label\"");
}

TEST(StepSuite, SaysThatItCannotCheckAStepForAnotherModel) {
  expect_unchecked<AskingForSpans<false>>();
  expect_unchecked<AskingForSpans<true>>();
}

/// Reads the answers of a model of pairs, or of one that answers questions.
template <bool questions>
class AskingAboutTwo final : public AppStep {
 public:
  static constexpr bool asks_model = true;
  static Schema options() { return {}; }
  AskingAboutTwo(const Options&, const StepContext& context) : model_(context.model) {
    if (model_ == nullptr) return;
    const TaskFields& read = model_->fields();
    const std::vector<std::string>& fields = questions ? read.structure : read.optional;
    if (std::ranges::find(fields, second) == fields.end()) throw OptionError("model", "it reads one text");
  }
  StepFields fields() const override {
    return {.reads = {"before.hits", "before.texts"}, .truth = {}, .gives = {"best"}};
  }
  Records apply(const Records& records) override {
    Records::Numbers best;
    for (const std::vector<std::string>& documents : records.lists("before.texts")) {
      best.push_back(0.0);
      if (documents.empty()) continue;
      Records asked;
      asked.add(questions ? "question" : "text", documents);
      asked.add(second, documents);
      const Records answers = model_->answer(asked);
      best.back() = std::ranges::max(answers.numbers("score"));
    }
    Records given;
    given.add("best", std::move(best));
    return given;
  }

 private:
  static constexpr const char* second = questions ? "context" : "text2";
  StepModel* model_;
};

/// Counts the letters that a model writes for a text.
class AskingForText final : public AppStep {
 public:
  static constexpr bool asks_model = true;
  static Schema options() { return {}; }
  AskingForText(const Options&, const StepContext& context) : model_(context.model) {
    if (model_ != nullptr && model_->fields().structure != std::vector<std::string>{"source"})
      throw OptionError("model", "it reads no source");
  }
  StepFields fields() const override { return {.reads = {"text"}, .truth = {}, .gives = {"length"}}; }
  Records apply(const Records& records) override {
    Records sources;
    sources.add("source", records.texts("text"));
    Records::Numbers lengths;
    const Records answers = model_->answer(sources);
    for (const std::string& target : answers.texts("summary"))
      lengths.push_back(static_cast<double>(target.size()));
    Records given;
    given.add("length", std::move(lengths));
    return given;
  }

 private:
  StepModel* model_;
};

TEST(StepSuite, GivesAStepTheModelThatItTakes) {
  EXPECT_EQ(said_of<AskingAboutTwo<false>>(), "");
  EXPECT_EQ(said_of<AskingAboutTwo<true>>(), "");
  EXPECT_EQ(said_of<AskingForText>(), "");
}

/// Needs one of two options, neither of which has a default.
class Needy final : public AppStep {
 public:
  static Schema options() {
    return Schema()
        .optional("share", OptionType::number, {.help = "a share", .min = 0.0, .max = 1.0})
        .optional("cost", OptionType::number, {.help = "a cost", .min = 0.0});
  }
  Needy(const Options& options, const StepContext&) {
    if (!options.has("share") && !options.has("cost"))
      throw OptionError("share", "share is missing: expected a share or a cost");
  }
  StepFields fields() const override { return {.reads = {"text"}, .truth = {}, .gives = {"length"}}; }
  Records apply(const Records& records) override {
    Records::Numbers lengths;
    for (const std::string& text : records.texts("text")) lengths.push_back(static_cast<double>(text.size()));
    Records given;
    given.add("length", std::move(lengths));
    return given;
  }
};

TEST(StepSuite, GivesAValueToAnOptionThatTheStepNeeds) {
  EXPECT_EQ(said_of<Needy>(), "");
}

TEST(Settings, NameOptionsOfStepsWithTheirTable) {
  Registrar registrar;
  registrar.add<Kind::step, Needy>("needy");
  for (const char* setting : {"share=0.25", "app.step.decide.share=0.25", "step.share=0.25"}) {
    const std::vector<Offer> offers = contract::with_settings(registrar.offers(), {setting});
    EXPECT_EQ(plugin_host::default_options(offers.front().options).number("share"), 0.25) << setting;
  }
}

}  // namespace
}  // namespace encore::testing
