// SPDX-License-Identifier: BSD-3-Clause
// The values of BLEU and chrF from sums. The formulas follow sacreBLEU's compute_bleu (smoothing "exp", no
// effective order) and _compute_f_score operation by operation, so that values agree to the last digits.
// measure_cells.cpp calls them. Read ngram_measures.hpp first.
#include "base/ngram_measures.hpp"

#include <cmath>

#include <encore/error.hpp>

namespace encore {

namespace {

constexpr double beta = 2.0;

}  // namespace

double ngram_precision(std::span<const double> sums) {
  ENCORE_REQUIRE(
      sums.size() > precision_lengths && (sums.size() - precision_lengths) % precision_order_columns == 0,
      "two lengths, then matches and n-grams of each order");
  const double written = sums[0], reference = sums[1];
  const std::span<const double> orders = sums.subspan(precision_lengths);
  const double count = static_cast<double>(orders.size() / precision_order_columns);
  bool any = false;
  double smoothing = 1.0, log_sum = 0.0;
  for (std::size_t i = 0; i < orders.size(); i += precision_order_columns) {
    const double matches = orders[i], ngrams = orders[i + 1];
    if (ngrams == 0.0) return 0.0;
    any = any || matches > 0.0;
    if (matches == 0.0) smoothing *= 2.0;
    log_sum += std::log(matches == 0.0 ? 1.0 / (smoothing * ngrams) : matches / ngrams);
  }
  if (!any) return 0.0;
  const double brevity = written < reference ? std::exp(1.0 - reference / written) : 1.0;
  return brevity * std::exp(log_sum / count);
}

double ngram_f_score(std::span<const double> sums) {
  ENCORE_REQUIRE(!sums.empty() && sums.size() % f_score_order_columns == 0,
                 "n-grams written, of the reference, and matches of each order");
  double precision = 0.0, recall = 0.0, orders = 0.0;
  for (std::size_t i = 0; i < sums.size(); i += f_score_order_columns) {
    const double written = sums[i], reference = sums[i + 1], matches = sums[i + 2];
    if (written == 0.0 || reference == 0.0) continue;
    precision += matches / written;
    recall += matches / reference;
    orders += 1.0;
  }
  if (orders == 0.0 || precision + recall == 0.0) return 0.0;
  precision /= orders;
  recall /= orders;
  return (1.0 + beta * beta) * precision * recall / (beta * beta * precision + recall);
}

}  // namespace encore
