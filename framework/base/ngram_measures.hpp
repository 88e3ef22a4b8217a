// SPDX-License-Identifier: BSD-3-Clause
// BLEU and chrF from sums over examples: the reducers `ngram_precision` and `ngram_f_score`
// (encore/measure.hpp), with the arithmetic of sacreBLEU (Post 2018). The task splits text and counts
// n-grams. Place in the flow: MeasureCells (measure_cells.hpp) sums -> these functions -> a value in [0, 1].
// Its order of operations must not change, or stored scores cannot be computed again.
#pragma once

#include <cstddef>
#include <span>

namespace encore {

/// The columns are {written, reference}, then {matches, n-grams} for each order.
inline constexpr std::size_t precision_lengths = 2, precision_order_columns = 2;
/// The columns are {written, reference, matches} for each order: the n-grams of the output, those of the
/// reference, and those that both have.
inline constexpr std::size_t f_score_order_columns = 3;

/// Computes BLEU from {written, reference, matches 1, n-grams 1, matches 2, ...}: the geometric mean of
/// matches / n-grams over the orders, times exp(1 - reference / written) if the output is shorter than the
/// reference. The k-th order without a match counts as 1 / (2^k n-grams). The value is 0 without any match,
/// and if no output is long enough for n-grams of the highest order.
double ngram_precision(std::span<const double> sums);

/// Computes chrF from {written 1, reference 1, matches 1, written 2, ...}: F with beta = 2 of the means of
/// matches / written and of matches / reference, over the orders of which both sides have n-grams; 0 if there
/// is no such order.
double ngram_f_score(std::span<const double> sums);

}  // namespace encore
