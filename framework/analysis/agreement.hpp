// SPDX-License-Identifier: BSD-3-Clause
// Statistics about decisions of people: the agreement of two of them, and a share over parts of a population
// of which samples were taken. app/review.cpp calls them. They are pure functions; the distributions are
// those of Boost.Math. docs/guides/review.md names the methods, so another method needs a change there. Read
// next: shares.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analysis/statistics.hpp"

namespace encore::analysis {

struct Agreement {
  std::int64_t pairs = 0;
  double observed = 0.0;  ///< share of the pairs with equal labels
  double expected = 0.0;  ///< the same if both chose their labels independently
  /// Cohen's kappa, (observed - expected) / (1 - expected); nothing if all labels are equal.
  std::optional<double> kappa = {};
  std::optional<Interval> interval = {};  ///< of kappa
};

/// Returns the agreement of pairs of labels for the same item (Cohen 1960). The interval uses the standard
/// error of Fleiss, Cohen and Everitt (1969) for large samples, so below about 50 pairs it is approximate.
Agreement agreement_of(std::span<const std::pair<std::string, std::string>> pairs, double level = 0.95);

/// A part of a population, and the members of it that were judged.
struct SampledPart {
  std::int64_t size = 0;    ///< of the part
  std::int64_t sample = 0;  ///< members of it that were judged
  std::int64_t hits = 0;    ///< judged members that count
  bool is_random = true;    ///< the judged members are a random sample
};

struct WeightedShare {
  double share = 0.0;
  Interval interval;
};

/// Returns the share of hits in the whole population: each part counts by its size, not by the size of its
/// sample. The interval adds the exact intervals of the parts, each at a level so high that all hold together
/// with probability `level` (Bonferroni), so it is rather too wide. A part that was judged completely has no
/// uncertainty; where the judged members are not random, the others may be all hits or none. Returns nothing
/// if a part that is not empty has no sample.
std::optional<WeightedShare> weighted_share(std::span<const SampledPart> parts, double level = 0.95);

}  // namespace encore::analysis
