// SPDX-License-Identifier: BSD-3-Clause
// Measure: the meaning of a number that a task reports, as data: whether higher or lower is better, whether
// it is a fraction, and how it follows from counts of examples. A task lists its measures once
// (T::measures()). The list is in the manifest and stored with every run, so that progress, tables,
// comparisons and reports need not know any task. Task::measure counts (statistics.hpp), and
// base/measures.hpp computes `dev/NAME` and `test/NAME` from the counts. Databases and manifests have the
// names of the reducers, and the struct is part of the ABI of plugins (plugin.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// Neither: a number that is watched, such as a learning rate, or a table; nothing can be selected by it.
enum class Better : std::uint8_t { higher, lower, neither };

/// How a value follows from the statistics of all examples. The list is closed: a new meaning gets a new
/// name. Sums run over examples, and over keys where a column has keys; nothing to divide by gives 0.
enum class Reducer : std::uint8_t {
  ratio,          ///< columns {part, whole}: sum(part) / sum(whole)
  harmonic_mean,  ///< {part, whole, other}: of part / whole and part / other; F1 of {correct, predicted,
                  ///< truth}
  macro_harmonic_mean,  ///< the mean over keys of the same
  exponential,          ///< {part, whole}: exp(sum(part) / sum(whole)), the perplexity of {loss, tokens}
  area_under_ranks,  ///< {score, truth}: the area under the ROC curve. What an example adds under one key is
                     ///< a pair; a truth above 0 is a positive, equal scores count half (Fawcett 2006)
  macro_area_under_ranks,  ///< the mean over the keys that have positives and negatives of the same
  rank_correlation,  ///< {prediction, truth}: Spearman's rho of these pairs, equal values share a mean rank
  correlation,       ///< the same: Pearson's r
  quadratic_kappa,   ///< the same: the agreement of levels beyond chance, with a weight that grows with the
                     ///< square of their distance (Cohen 1968): 1 - sum (x - y)^2 over its mean for
                     ///< independent pairs
  matthews,          ///< {counts} with two keys, truth and prediction: R_K, in [-1, 1] (Gorodkin 2004)
  ngram_precision,   ///< {written, reference, matches 1, n-grams 1, matches 2, ...}: BLEU, the geometric mean
                    ///< of the shares of n-grams that match, times exp(1 - reference / written) where less is
                    ///< written than the reference has (Papineni et al. 2002); orders without a match are
                    ///< smoothed as sacreBLEU's "exp" does (Post 2018)
  ngram_f_score,  ///< {written 1, reference 1, matches 1, written 2, ...}: chrF, F with beta = 2 of the means
                  ///< of precision and recall over the orders that both sides have (Popovic 2015)
  absolute_difference,  ///< {part, other, whole}: the sum over keys of |sum(part) - sum(other)|, divided by
                        ///< sum(whole). The expected calibration error of {right, confidence, answers}, where
                        ///< the keys are bins of the confidence (Naeini et al. 2015)
  matrix,               ///< {counts} with two keys, truth and prediction: a table, no number
  opaque,               ///< the task gives a value that nothing here follows
};

struct Measure {
  /// "f1", named `dev/f1` and `test/f1` in a run. "f1/{label}" is a family: one measure for each key of its
  /// columns.
  std::string name;
  std::string title = {};  ///< as people write it ("F1"); empty: the name
  std::string help = {};   ///< one line, no final stop
  std::string unit = {};   ///< "tokens/s"; empty for a plain number
  bool fraction = false;   ///< in [0, 1], shown in percent
  Better better = Better::higher;
  Reducer reducer = Reducer::opaque;
  std::vector<std::string> columns = {};  ///< of the statistics, in the order that the reducer wants
  bool always =
      true;  ///< false: some data do not have it, so `train.select` cannot be promised it before the start

  friend bool operator==(const Measure&, const Measure&) = default;
};

}  // namespace encore
