// SPDX-License-Identifier: BSD-3-Clause
// Scoring: scores the development set during training, and writes the predictions and other files of the best
// checkpoint at the end of a run. trainer.cpp calls it. Read scoring.hpp first.
#include "train/scoring.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/measures.hpp"
#include "data/largest_batch.hpp"
#include "infer/attention.hpp"
#include "infer/observe.hpp"
#include "infer/setup.hpp"

namespace encore::train {
namespace {

/// Returns the lines joined to one: "0.31 joy, 0.62 love".
std::string in_one_line(const std::string& lines) {
  std::string line;
  for (const char letter : lines.substr(0, lines.find_last_not_of('\n') + 1)) {
    if (letter == '\n')
      line += ", ";
    else
      line += letter;
  }
  return line;
}

}  // namespace

BatchSize largest_evaluation(const tasks::TaskSets& sets, const model::Model& model,
                             const data::BatchOptions& options) {
  BatchSize largest;
  for (data::Split split : {data::Split::dev, data::Split::test})
    if (sets.has(split))
      largest = data::at_least(
          largest, data::largest_evaluation_batch(infer::units_of(sets.task(), sets.set(split).set), options,
                                                  infer::evaluation_order(model)));
  return largest;
}

Scoring::Scoring(const TrainerParts& parts, const BatchSize& largest, const data::BatchOptions& options)
    : train_(parts.experiment.train),
      sets_(parts.sets),
      model_(parts.model),
      snapshots_(parts.snapshots),
      observer_(parts.observer),
      control_(parts.control),
      ranks_(parts.ranks),
      tokenizer_(parts.tokenizer),
      ties_(parts.ties),
      between_steps_(parts.between_steps),
      evaluator_(model_, largest, options, parts.texts, ranks_) {}

record::DevScore Scoring::score_dev(std::int64_t step, std::int64_t epoch) {
  infer::Evaluation evaluation = evaluate(data::Split::dev);
  tuned_ = sets_.tune(evaluation.outputs);
  const double loss = evaluation.loss;
  dev_score_ = measured(data::Split::dev, std::move(evaluation));
  const std::vector<record::MeasuredValue>& measures = dev_score_->measures;
  observer_.happened(record::Evaluated{.step = step, .epoch = epoch, .measures = measures});

  const auto selected =
      std::find_if(measures.begin(), measures.end(), [&](const record::MeasuredValue& measure) {
        return measure.name == train_.select.metric && std::isfinite(measure.value);
      });
  record::DevScore score{.step = step, .loss = loss};
  undefined_ = is_undefined(dev_score_->statistics);
  if (selected != measures.end() && !(undefined_ && ties_ == record::Ties::loss))
    score.value = selected->value;
  return score;
}

void Scoring::forget() {
  tuned_.clear();
  dev_score_.reset();
}

infer::Evaluation Scoring::evaluate(data::Split split) {
  return evaluator_.run(infer::units_of(sets_.task(), sets_.set(split).set),
                        [&](const infer::EvaluationProgress& progress) {
                          observer_.scoring(split, progress);
                          if (between_steps_) between_steps_();
                        });
}

Scoring::SetScore Scoring::measured(data::Split split, infer::Evaluation evaluation) {
  Statistics statistics = sets_.measure(split, evaluation.outputs);
  const std::string prefix = std::string(data::name_of(split)) + "/";
  std::vector<record::MeasuredValue> measures;
  for (const auto& [name, value] : measure_values(sets_.measures(), statistics))
    measures.push_back({prefix + name, value});
  measures.push_back({prefix + loss_measure().name, evaluation.loss});
  return {std::move(evaluation.outputs), std::move(statistics), std::move(measures)};
}

std::optional<Scoring::SetScore> Scoring::score_of(data::Split split, std::int64_t step,
                                                   std::int64_t last_step, bool measures) {
  const bool is_known = split == data::Split::dev && dev_score_ && step == last_step;
  if (is_known) return std::exchange(dev_score_, std::nullopt);
  infer::Evaluation evaluation = evaluate(split);
  return measures ? std::optional(measured(split, std::move(evaluation))) : std::nullopt;
}

bool Scoring::is_undefined(const Statistics& statistics) const {
  return !is_defined_on(sets_.measures(), train_.select.measure(), statistics);
}

void Scoring::conclude(std::int64_t best_step, std::int64_t last_step) {
  ranks_.wait_for_all();  // rank 0 may still be writing the checkpoint that all ranks read next
  const std::string tuned = snapshots_.restore_parameters(model_, best_step);
  sets_.use(tuned);
  const bool writes = ranks_.rank() == 0;
  if (writes) snapshots_.write_weights(model_, best_step, tuned, control_, observer_);
  if (!tuned.empty())
    observer_.happened(record::Logged{.text = "chosen on the development set: " + in_one_line(tuned)});
  std::vector<record::MeasuredValue> result;
  for (data::Split split : {data::Split::dev, data::Split::test}) {
    if (!sets_.has(split)) continue;
    ranks_.wait_for_all();  // the others wait while rank 0 writes
    const std::optional<SetScore> scored = score_of(split, best_step, last_step, writes);
    if (!writes) continue;
    const auto& [outputs, statistics, measures] = *scored;
    if (split == data::Split::dev) undefined_ = is_undefined(statistics);
    if (split == data::Split::test)
      observer_.happened(record::Evaluated{.step = best_step, .measures = measures});
    result.insert(result.end(), measures.begin(), measures.end());
    const Records predicted =
        snapshots_.write_predictions(sets_, split, outputs, statistics, control_, observer_);
    if (split == data::Split::dev) keep_reference(best_step, outputs, predicted);
  }
  if (writes && train_.show_attention > 0) keep_attention(best_step);
  observer_.happened(record::Concluded{
      .best_step = best_step, .measures = result, .ties = record::name_of(ties_), .undefined = undefined_});
  ranks_.wait_for_all();
}

void Scoring::keep_attention(std::int64_t step) {
  std::string left_out;
  record::AttentionTexts kept = infer::attended_examples(
      model_, *tokenizer_, sets_.set(data::Split::dev).set, data::name_of(data::Split::dev),
      static_cast<std::size_t>(train_.show_attention), left_out);
  kept.step = step;
  if (!left_out.empty())
    observer_.happened(
        record::Logged{.level = record::LogLevel::warning, .text = "train.show_attention: " + left_out});
  snapshots_.write_file(record::attention_artifact, record::attention_file, kept.json(), control_, observer_);
}

void Scoring::keep_reference(std::int64_t step, const Outputs& outputs, const Records& predicted) {
  if (tokenizer_ == nullptr) return;
  const record::TextReference reference = infer::reference_of({.task = sets_.task(),
                                                               .tokenizer = *tokenizer_,
                                                               .set = sets_.set(data::Split::dev).set,
                                                               .outputs = outputs,
                                                               .labelled = predicted},
                                                              data::name_of(data::Split::dev), step);
  snapshots_.write_file(record::reference_artifact, record::reference_file, reference.json(), control_,
                        observer_);
}

}  // namespace encore::train
