// SPDX-License-Identifier: BSD-3-Clause
// Implements observe.hpp: computes facts about answers (confidence, labels, distance of the embedding) from
// the outputs of a model. train/scoring.cpp, the worker's evaluate and serve call it. Both sides of `exp
// monitor` must compute a fact in the same way, so a change here makes old references incomparable. Read
// observe.hpp first.
#include "infer/observe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <span>

namespace encore::infer {
namespace {

const Outputs::Values* find_numbers(const Outputs& outputs, std::string_view name) {
  for (const Outputs::Values& values : outputs.all())
    if (values.rule.name == name && values.rule.type == ColumnType::numbers) return &values;
  return nullptr;
}

/// Returns the probability of the class with the largest logit.
double best_probability(std::span<const float> logits) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return 1.0 / sum;
}

/// Returns the mean confidence of the yes-or-no answers to all classes.
double mean_certainty(std::span<const float> scores) {
  double sum = 0.0;
  for (const float score : scores) sum += std::max<double>(score, 1.0 - static_cast<double>(score));
  return sum / static_cast<double>(scores.size());
}

/// The confidence of one row, and the output in which its values lie.
struct RowConfidence {
  const Outputs::Values* values = nullptr;
  double (*of)(std::span<const float> row) = nullptr;
};

RowConfidence row_confidence(const Outputs& outputs) {
  if (const auto* values = find_numbers(outputs, logits_output); values && values->rule.width > 1)
    return {values, best_probability};
  if (const auto* values = find_numbers(outputs, scores_output); values && values->rule.width > 0)
    return {values, mean_certainty};
  if (const auto* values = find_numbers(outputs, probabilities_output); values && values->rule.width > 0)
    return {values, [](std::span<const float> row) { return static_cast<double>(row.front()); }};
  return {};
}

/// Returns the mean confidence over the rows of an example; empty if it has no rows, or if one is not a
/// number.
std::optional<double> confidence_of(const RowConfidence& row, const ExampleSet& set, std::size_t example) {
  if (row.values == nullptr) return {};
  const auto width = static_cast<std::size_t>(row.values->rule.width);
  double sum = 0.0;
  std::size_t rows = 0;
  const Run sequences = set.sequences(example);
  for (std::size_t s = sequences.first; s < sequences.first + sequences.count; ++s) {
    const Run of = set.rows(row.values->rule.space, s);
    for (std::size_t r = of.first; r < of.first + of.count; ++r, ++rows)
      sum += row.of(std::span(row.values->numbers).subspan(r * width, width));
  }
  if (rows == 0 || !std::isfinite(sum)) return {};
  return std::clamp(sum / static_cast<double>(rows), 0.0, 1.0);
}

/// Returns the embedding of an example's first sequence; empty if the model gives none.
std::span<const float> embedding_of(const Outputs& outputs, const ExampleSet& set, std::size_t example) {
  const Outputs::Values* values = find_numbers(outputs, embedding_output);
  if (values == nullptr || values->rule.space != Space::sequences) return {};
  const auto width = static_cast<std::size_t>(values->rule.width);
  return std::span(values->numbers).subspan(set.sequences(example).first * width, width);
}

/// Counts the labels of one record, in any field.
struct LabelCounter {
  const std::set<std::string>& known;
  std::size_t record;
  std::map<std::string, std::int64_t>& to;

  void count(const std::string& text) const {
    if (known.contains(text)) ++to[text];
  }
  void operator()(const Records::Texts& texts) const { count(texts[record]); }
  void operator()(const Records::TextLists& lists) const {
    for (const std::string& text : lists[record]) count(text);
  }
  void operator()(const Records::SpanLists& lists) const {
    for (const TextSpan& span : lists[record]) count(span.label);
  }
  void operator()(const Records::Numbers&) const {}
  void operator()(const Records::NumberLists&) const {}
  void operator()(const Records::NumberMaps&) const {}
  void operator()(const Records::NumberMapLists&) const {}
};

/// Returns the mean and variance of every second embedding.
record::EmbeddingCloud cloud_of(const Outputs& outputs, const ExampleSet& set) {
  record::EmbeddingCloud cloud;
  std::size_t count = 0;
  for (std::size_t example = 0; example < set.size(); example += 2) {
    const std::span<const float> embedding = embedding_of(outputs, set, example);
    if (embedding.empty()) return {};
    cloud.mean.resize(embedding.size());
    cloud.variance.resize(embedding.size());
    ++count;
    for (std::size_t i = 0; i < embedding.size(); ++i) {
      const double before = embedding[i] - cloud.mean[i];
      cloud.mean[i] += before / static_cast<double>(count);
      cloud.variance[i] += before * (embedding[i] - cloud.mean[i]);
    }
  }
  if (count < 2) return {};
  for (double& each : cloud.variance) each /= static_cast<double>(count - 1);
  return cloud;
}

}  // namespace

std::vector<record::TextFacts> observe(const Observed& observed, const record::EmbeddingCloud& embeddings) {
  const auto& [task, tokenizer, set, outputs, labelled] = observed;
  const std::vector<std::string> names = task.labels();
  const std::set<std::string> known(names.begin(), names.end());
  const RowConfidence row = row_confidence(outputs);
  const std::optional<std::int32_t> unknown = tokenizer.find(Special::unknown);
  std::vector<record::TextFacts> all(set.size());
  for (std::size_t example = 0; example < set.size(); ++example) {
    record::TextFacts& facts = all[example];
    const Run sequences = set.sequences(example);
    for (std::size_t s = sequences.first; s < sequences.first + sequences.count; ++s) {
      const std::span<const std::int32_t> ids = set.ids(s);
      facts.tokens += static_cast<std::int64_t>(ids.size());
      if (unknown) facts.unknown += std::ranges::count(ids, *unknown);
    }
    facts.confidence = confidence_of(row, set, example);
    facts.distance = embeddings.distance(embedding_of(outputs, set, example));
    for (const Records::Field& field : labelled.fields())
      std::visit(LabelCounter{known, example, facts.labels}, field.values);
  }
  return all;
}

record::TextReference reference_of(const Observed& observed, const std::string& source, std::int64_t step) {
  record::TextReference reference{
      .source = source, .step = step, .embeddings = cloud_of(observed.outputs, observed.set)};
  for (const std::string& label : observed.task.labels()) reference.histograms.labels[label] = 0;
  std::vector<record::TextFacts> all = observe(observed, reference.embeddings);
  for (std::size_t example = 0; example < all.size(); ++example) {
    if (example % 2 == 0) all[example].distance.reset();
    reference.histograms.add(all[example]);
  }
  return reference;
}

}  // namespace encore::infer
