// SPDX-License-Identifier: BSD-3-Clause
// Tests the step "predict", which passes the answers of a model to the next step (plugins/steps/predict.hpp),
// with a model made for the test: which fields it passes on, and when it refuses to give vectors.
#include "predict.hpp"

#include <gtest/gtest.h>

#include "unit/steps/samples.hpp"

namespace encore::predict {
namespace {

/// Answers each text with its length, and echoes the text as tasks do.
class LengthModel final : public StepModel {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return {}; }
  std::string no_scores() const override { return ""; }
  std::string no_vectors() const override { return no_vectors_; }
  Records answer(const Records& questions) override {
    Records answers;
    Records::Numbers lengths;
    for (const std::string& text : questions.texts("text"))
      lengths.push_back(static_cast<double>(text.size()));
    answers.add("text", questions.texts("text"));
    answers.add("number", std::move(lengths));
    answers.add("shown", Records::Texts(questions.size(), "a line"));
    answers.notes = {"a remark"};
    return answers;
  }
  Records::NumberLists vectors(const Records::Texts& texts) override {
    Records::NumberLists vectors;
    for (const std::string& text : texts) vectors.push_back({static_cast<double>(text.size()), 1.0});
    return vectors;
  }

  TaskFields fields_{.structure = {"text"}, .truth = {"number"}, .optional = {"text2"}};
  std::string no_vectors_;
};

Records two_texts() {
  Records records;
  records.add("id", Records::Texts{"1", "2"});
  records.add("text", Records::Texts{"a", "bcd"});
  return records;
}

std::vector<std::string> names_of(const Records& records) {
  std::vector<std::string> names;
  for (const Records::Field& field : records.fields()) names.push_back(field.name);
  return names;
}

TEST(Predict, GivesTheAnswersWithoutWhatTheModelReads) {
  LengthModel model;
  Predict step(test::step_options<Predict>(), {.name = "size", .model = &model});
  EXPECT_EQ(step.fields().reads, std::vector<std::string>{"text"});
  EXPECT_TRUE(step.fields().gives.empty());
  const Records given = step.apply(two_texts());
  EXPECT_EQ(names_of(given), (std::vector<std::string>{"number", "shown"}));
  EXPECT_EQ(given.numbers("number"), (Records::Numbers{1.0, 3.0}));
  EXPECT_EQ(given.notes, std::vector<std::string>{"a remark"});
}

TEST(Predict, GivesVectorsIfAsked) {
  LengthModel model;
  Predict step(test::step_options<Predict>({{"vectors", true}}), {.name = "size", .model = &model});
  const Records given = step.apply(two_texts());
  EXPECT_EQ(given.vectors("vector"), (Records::NumberLists{{1.0, 1.0}, {3.0, 1.0}}));
}

TEST(Predict, ReadsNothingWhileTheModelIsUnknown) {
  const Predict step(test::step_options<Predict>({{"vectors", true}}), {.name = "size"});
  EXPECT_TRUE(step.fields().reads.empty());
}

TEST(Predict, RefusesVectorsOfAModelThatHasNone) {
  LengthModel model;
  model.no_vectors_ = "its head has no vectors";
  const Options options = test::step_options<Predict>({{"vectors", true}});
  EXPECT_EQ(
      test::refusal([&] { Predict(options, {.name = "size", .model = &model}); }),
      "the model of step \"size\" gives no vectors: its head has no vectors; set vectors = false or take "
      "a model that has them");
  model.no_vectors_ = "";
  model.fields_.structure = {"words"};
  Records records = two_texts();
  records.add("words", Records::TextLists{{"a"}, {"b"}});
  Predict step(options, {.name = "size", .model = &model});
  EXPECT_EQ(
      test::refusal([&] { step.apply(records); }),
      "step \"size\" cannot give vectors: expected a model that reads a field of text; set vectors = false");
}

}  // namespace
}  // namespace encore::predict
