// SPDX-License-Identifier: BSD-3-Clause
// Tests observe() (infer/observe.hpp): the facts about inputs and answers (tokens, confidence, labels,
// distance) by which `exp monitor` compares requests with the development set. A training leaves those of its
// development set as a reference file, and an Engine must compute the same for the same inputs. The reference
// is stored with the run.
#include "infer/observe.hpp"

#include <cmath>

#include "unit/infer/engine_fixture.hpp"

namespace encore::infer {
namespace {

using namespace testing;

class ObserveTest : public EngineTest {
 protected:
  std::string dev() const { return (folder_ / "dev.conll").string(); }
};

TEST_F(ObserveTest, ARunLeavesTheReferenceOfItsDevelopmentSet) {
  const Answer answer = train();
  ASSERT_TRUE(answer.files.contains(record::reference_file));
  const std::optional<record::TextReference> reference = record::find_reference(run_);
  ASSERT_TRUE(reference.has_value());
  EXPECT_EQ(reference->source, "dev");
  EXPECT_EQ(reference->step, answer.best_step);

  Engine loaded = engine();
  const Records records = tasks::read_set(loaded.reader(), {dev()}, "dev set").records;
  const tasks::EncodedSet set = loaded.encode(records);
  const Outputs outputs = loaded.run(set).outputs;
  const Records labelled = loaded.task().label(records, set.set, outputs);
  const Observed observed{loaded.task(), loaded.tokenizer(), set.set, outputs, labelled};
  EXPECT_EQ(reference_of(observed, "dev", loaded.step()), *reference) << "an Engine gives the same";

  const std::vector<record::TextFacts> facts = observe(observed, {});
  ASSERT_EQ(static_cast<std::int64_t>(facts.size()), reference->histograms.texts);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    EXPECT_EQ(facts[i].tokens, static_cast<std::int64_t>(set.set.ids(i).size()));
    ASSERT_TRUE(facts[i].confidence.has_value());
    EXPECT_GE(*facts[i].confidence, 1.0 / static_cast<double>(loaded.task().labels().size()));
    EXPECT_LE(*facts[i].confidence, 1.0);
    EXPECT_FALSE(facts[i].distance.has_value()) << "this model gives no embedding";
    std::int64_t labels = 0;
    for (const auto& [label, count] : facts[i].labels) labels += count;
    EXPECT_EQ(labels, static_cast<std::int64_t>(labelled.lists("tags")[i].size()));
  }
  for (const auto& [name, stream] : reference->histograms.streams)
    EXPECT_EQ(stream.count(), reference->histograms.texts) << name;
}

TEST_F(ObserveTest, WithoutAReferenceNothingElseChanges) {
  const Answer answer = train();
  const std::string digest = engine().digest();
  fs::remove(run_ / record::reference_file);
  EXPECT_EQ(engine().digest(), digest);
  EXPECT_FALSE(record::find_reference(run_).has_value());
}

/// Observes one input of two tokens ([CLS] and [UNK]) with an output whose values a test gives: `row` for
/// each row of the output.
class SmallOutputs : public ObserveTest {
 protected:
  record::TextFacts facts_of(const OutputRule& rule, const std::vector<float>& row,
                             const record::EmbeddingCloud& cloud = {}) {
    if (!fs::exists(run_ / record::weights_file)) train();
    Engine loaded = engine();
    const std::vector<std::int32_t> lengths = {2}, ids = {loaded.tokenizer().special(Special::start),
                                                          loaded.tokenizer().special(Special::unknown)};
    const ExampleSet set({.lengths = lengths, .ids = ids}, nullptr);
    Outputs outputs(set, {rule});
    for (std::size_t i = 0; i < outputs.all()[0].numbers.size(); ++i)
      outputs.all()[0].numbers[i] = row[i % row.size()];
    return observe({loaded.task(), loaded.tokenizer(), set, outputs, Records()}, cloud).front();
  }
};

TEST_F(SmallOutputs, ConfidenceComesFromWhateverTheHeadGives) {
  const auto rule = [](const char* name, std::int64_t width) {
    return OutputRule{.name = name, .space = Space::tokens, .type = ColumnType::numbers, .width = width};
  };
  EXPECT_NEAR(*facts_of(rule(logits_output, 2), {0.0F, std::log(3.0F)}).confidence, 0.75, 1e-6);
  EXPECT_NEAR(*facts_of(rule(scores_output, 2), {0.1F, 0.7F}).confidence, 0.8, 1e-6);
  EXPECT_NEAR(*facts_of(rule(probabilities_output, 2), {0.6F, 0.3F}).confidence, 0.6, 1e-6);
  EXPECT_FALSE(facts_of(rule("numbers", 1), {0.6F}).confidence.has_value());
  EXPECT_FALSE(facts_of(rule(logits_output, 2), {NAN, 1.0F}).confidence.has_value());
  EXPECT_EQ(facts_of(rule("numbers", 1), {0.6F}).unknown, 1);
}

TEST_F(SmallOutputs, DistanceComesFromAnEmbedding) {
  const OutputRule rule{
      .name = embedding_output, .space = Space::sequences, .type = ColumnType::numbers, .width = 2};
  const record::EmbeddingCloud cloud{{0.0, 0.0}, {1.0, 4.0}};
  EXPECT_NEAR(*facts_of(rule, {1.0F, 2.0F}, cloud).distance, 1.0, 1e-6);
  EXPECT_FALSE(facts_of(rule, {1.0F, 2.0F}).distance.has_value()) << "nothing to measure it by";
}

}  // namespace
}  // namespace encore::infer
