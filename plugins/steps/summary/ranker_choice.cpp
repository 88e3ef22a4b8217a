// SPDX-License-Identifier: BSD-3-Clause
// Compares the methods on judged documents. Read ranker_choice.hpp first, and ranking/weight_choice.hpp for
// the interval.
#include "ranker_choice.hpp"

#include <cstdio>
#include <span>
#include <utility>

#include <encore/error.hpp>

#include "ngrams/text_scores.hpp"
#include "ranking/weight_choice.hpp"
#include "ridge.hpp"

namespace encore::summary {
namespace {

using ranking::Gains;

constexpr std::size_t halves = 2;
constexpr double ridge_penalty = 1.0;
constexpr int grid_steps = 5;  // 0, 0.2, ... 0.8 for the position and for the diversity of mmr

std::string written(double value, const char* format = "%.2f") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double rouge_l(const std::string& summary, const JudgedDocument& judged) {
  return ngrams::score_summary(summary, judged.references).rouge_l;
}

double gain_of(const JudgedDocument& judged, const Ranker& ranker, const Limits& limits) {
  const Document& document = judged.document;
  return rouge_l(text_of(document, pick(document, scores_of(document, ranker), ranker, limits)), judged);
}

Gains gains_of(const std::vector<JudgedDocument>& documents, const Ranker& ranker, const Limits& limits) {
  Gains gains;
  for (const JudgedDocument& judged : documents) gains.push_back(gain_of(judged, ranker, limits));
  return gains;
}

/// A ranker that some documents chose, and what each document gains with the ranker of the other half.
struct Chosen {
  Ranker ranker;
  Gains unseen;
};

Chosen best_mmr(const std::vector<JudgedDocument>& documents, const Limits& limits) {
  std::vector<Ranker> rankers;
  std::vector<Gains> gains;
  for (int position = 0; position < grid_steps; ++position)
    for (int diversity = 0; diversity < grid_steps; ++diversity) {
      rankers.push_back({.method = Method::mmr, .position = position / 5.0, .diversity = diversity / 5.0});
      gains.push_back(gains_of(documents, rankers.back(), limits));
    }
  /// Returns the best ranker without the documents of this half; `halves`: for all documents.
  const auto best_without = [&](std::size_t half) {
    std::size_t best = 0;
    double most = -1.0;
    for (std::size_t r = 0; r < rankers.size(); ++r) {
      double sum = 0.0;
      for (std::size_t i = 0; i < documents.size(); ++i) sum += i % halves == half ? 0.0 : gains[r][i];
      if (sum > most) best = r, most = sum;
    }
    return best;
  };
  Chosen chosen{.ranker = rankers[best_without(halves)], .unseen = Gains(documents.size())};
  for (std::size_t half = 0; half < halves; ++half) {
    const std::size_t best = best_without(half);
    for (std::size_t i = half; i < documents.size(); i += halves) chosen.unseen[i] = gains[best][i];
  }
  return chosen;
}

Chosen learned(const std::vector<JudgedDocument>& documents, const Limits& limits) {
  Chosen chosen{.ranker = {.method = Method::learned, .weights = fit_weights(documents)},
                .unseen = Gains(documents.size())};
  for (std::size_t half = 0; half < halves; ++half) {
    std::vector<JudgedDocument> others;
    for (std::size_t i = 0; i < documents.size(); ++i)
      if (i % halves != half) others.push_back(documents[i]);
    if (others.empty()) continue;
    const Ranker ranker = {.method = Method::learned, .weights = fit_weights(others)};
    for (std::size_t i = half; i < documents.size(); i += halves)
      chosen.unseen[i] = gain_of(documents[i], ranker, limits);
  }
  return chosen;
}

std::string described(const Ranker& ranker) {
  std::string text = name_of(ranker.method);
  if (ranker.method == Method::mmr)
    text += " (position " + written(ranker.position) + ", diversity " + written(ranker.diversity) + ")";
  return text;
}

}  // namespace

std::vector<double> fit_weights(const std::vector<JudgedDocument>& documents) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const JudgedDocument& judged : documents)
    for (std::size_t part = 0; part < judged.document.parts.size(); ++part) {
      rows.push_back(features_of(judged.document, part));
      values.push_back(rouge_l(judged.document.parts[part].text, judged));
    }
  if (rows.empty()) return std::vector<double>(feature_count + 1);
  return fit_ridge(rows, values, ridge_penalty);
}

RankerChoice choose_ranker(const std::vector<JudgedDocument>& documents, const Limits& limits,
                           std::uint64_t seed) {
  ENCORE_REQUIRE(!documents.empty(), "a choice needs documents");
  std::vector<Chosen> all;
  for (const Method method : {Method::lead, Method::longest, Method::centroid})
    all.push_back({.ranker = {.method = method}, .unseen = gains_of(documents, {.method = method}, limits)});
  all.push_back(best_mmr(documents, limits));
  all.push_back(learned(documents, limits));
  const auto mean_of = [](const Chosen& each) { return ranking::mean(each.unseen); };
  const Chosen& simple = mean_of(all[1]) > mean_of(all[0]) ? all[1] : all[0];
  const Chosen* best = &all[2];
  for (const Chosen& each : std::span(all).subspan(3))
    if (mean_of(each) > mean_of(*best)) best = &each;
  const ranking::GainInterval gain = ranking::gain_over(best->unseen, simple.unseen, seed);

  RankerChoice choice{.ranker = gain.helps() ? best->ranker : simple.ranker};
  std::string means;
  for (const Chosen& each : all)
    means += (means.empty() ? "" : ", ") + described(each.ranker) + " " + written(100.0 * mean_of(each));
  choice.notes = {"ROUGE-L on " + std::to_string(documents.size()) + " documents: " + means,
                  described(best->ranker) + " gains " + written(100.0 * gain.mean, "%+.2f") + " over " +
                      described(simple.ranker) + " (95 % interval " + written(100.0 * gain.low, "%+.2f") +
                      " to " + written(100.0 * gain.high, "%+.2f") + "): the method is " +
                      described(choice.ranker)};
  return choice;
}

}  // namespace encore::summary
