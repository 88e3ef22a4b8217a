// BLEU and chrF of sums over examples: the reducers `ngram_precision` and `ngram_f_score`
// (encore/measure.hpp), in the arithmetic of sacreBLEU (Post 2018). Which n-grams there are is the business
// of the task that counts them. Place in the flow: MeasureCells (measure_cells.hpp) sums -> here -> a value
// in [0, 1].
#pragma once

#include <cstddef>
#include <span>

namespace encore {

/// Columns of one order: {matches, n-grams}, behind {written, reference} for all orders.
inline constexpr std::size_t precision_lengths = 2, precision_order_columns = 2;
/// Columns of one order: {written, reference, matches}.
inline constexpr std::size_t f_score_order_columns = 3;

/// {written, reference, matches 1, n-grams 1, matches 2, ...}: the geometric mean of matches / n-grams over
/// the orders, times exp(1 - reference / written) where less is written than the reference has. The k-th
/// order without a match counts as 1 / (2^k n-grams). 0 without any match, and where nothing written is long
/// enough to have n-grams of the highest order.
double ngram_precision(std::span<const double> sums);

/// {written 1, reference 1, matches 1, written 2, ...}: F with beta = 2 of the means of matches / written and
/// of matches / reference, over the orders of which both sides have n-grams; 0 where there is none.
double ngram_f_score(std::span<const double> sums);

}  // namespace encore
