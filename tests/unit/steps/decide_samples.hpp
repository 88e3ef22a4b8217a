// SPDX-License-Identifier: BSD-3-Clause
// Records as a classifier with three classes gives them, with their truth, for the tests of the step "decide"
// in this folder. The draws are the same on every machine; tests compare counts that follow from them, so
// they must stay.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include <encore/records.hpp>

#include "unit/steps/samples.hpp"

namespace encore::decide {

struct SampleRule {
  std::size_t count = 600;
  double out_of_scope = 0.0;  ///< share with the truth "oos"
  bool has_vectors = false;
  std::uint64_t seed = 1;
  double margin = 6.0;  ///< of the logit of the favoured class; the truth is drawn at half of the logits
};

/// Returns records with the fields text, label (the truth), and label, scores and vector of a step "intent".
/// The vector of a request lies near the mean of its true class, that of a request out of scope lies
/// elsewhere.
inline Records sample_records(const SampleRule& rule) {
  test::Draws draws(rule.seed);
  Records::Texts texts, truths, labels;
  Records::NumberMaps scores;
  Records::NumberLists vectors;
  const std::string names[] = {"bill", "card", "pin"};
  for (std::size_t i = 0; i < rule.count; ++i) {
    const bool is_out = draws.uniform() < rule.out_of_scope;
    const std::size_t favoured = draws.next() % 3;
    double logits[3], said = 0.0, honest = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      logits[k] =
          draws.uniform() + (k == favoured ? rule.margin * draws.uniform() * (is_out ? 0.4 : 1.5) : 0.0);
      said += std::exp(logits[k]);
      honest += std::exp(0.5 * logits[k]);
    }
    double left = draws.uniform() * honest;
    std::size_t truth = 0, best = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (left >= 0.0) truth = k;
      left -= std::exp(0.5 * logits[k]);
      if (logits[k] > logits[best]) best = k;
    }
    auto& each = scores.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) each[names[k]] = std::exp(logits[k]) / said;
    texts.push_back("text " + std::to_string(i));
    truths.push_back(is_out ? "oos" : names[truth]);
    labels.push_back(names[best]);
    std::vector<double> vector(4);
    for (std::size_t d = 0; d < vector.size(); ++d)
      vector[d] = draws.uniform() + draws.uniform() +
                  (is_out       ? (d == 3 ? 4.0 : 1.0)
                   : d == truth ? 3.0
                                : 0.0);
    vectors.push_back(std::move(vector));
  }
  Records records;
  records.add("text", std::move(texts));
  records.add("label", std::move(truths));
  records.add("intent.label", std::move(labels));
  records.add("intent.scores", std::move(scores));
  if (rule.has_vectors) records.add("intent.vector", std::move(vectors));
  return records;
}

/// Returns the records with these numbers, in this order.
inline Records selected(const Records& from, const std::vector<std::size_t>& numbers) {
  Records records;
  for (const Records::Field& field : from.fields())
    std::visit(
        [&](const auto& values) {
          auto chosen = values;
          chosen.clear();
          for (const std::size_t number : numbers) chosen.push_back(values[number]);
          records.add(field.name, std::move(chosen));
        },
        field.values);
  return records;
}

}  // namespace encore::decide
