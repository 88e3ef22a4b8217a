// SPDX-License-Identifier: BSD-3-Clause
// MeasureCells: the sums from which one measure follows. It sums and evaluates any selection of examples
// quickly. Place in the flow: measures.hpp sums all examples; statistical tests that resample examples sum
// thousands of selections. Stored scores depend on the order of the operations, so it must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

#include "base/pair_measures.hpp"

namespace encore {

/// Returns the index in `measure.columns` of each column of the statistics, or -1.
std::vector<int> places_of(const Measure& measure, const Statistics& statistics);

/// The values that each example adds to the sums of one measure. The form is sparse, since most examples add
/// to few sums.
struct ExampleSums {
  struct Entry {
    std::uint32_t cell = 0;
    double value = 0.0;
  };
  std::vector<Entry> entries = {};
  std::vector<std::size_t> ends = {};  ///< one past the last entry of each example

  std::size_t examples() const { return ends.size(); }
  std::span<const Entry> of(std::size_t example) const {
    const std::size_t begin = example == 0 ? 0 : ends[example - 1];
    return {entries.data() + begin, ends[example] - begin};
  }
};

/// The sums ("cells") of one measure, prepared once so that any selection of examples is summed and evaluated
/// quickly:
///   MeasureCells cells(measure, "PER");
///   const ExampleSums sums = cells.sums_of(statistics);
///   std::vector<double> total(cells.size());  // add the entries of the examples that count
///   cells.value(total);
/// Several statistics may be added; size() grows with new keys. One thread at a time may use an object.
class MeasureCells {
 public:
  /// `key` names the member of a family; it is empty for other measures. Throws Error if the measure does not
  /// follow from examples (has_value) or if the key is missing.
  explicit MeasureCells(Measure measure, std::string key = {});

  ExampleSums sums_of(const Statistics& statistics);
  std::size_t size() const;
  double value(std::span<const double> cells) const;
  /// Returns false if the sums define no value: with a single class, for example, there is no area under the
  /// ROC curve.
  bool is_defined(std::span<const double> cells) const;

 private:
  struct Wanted;
  ExampleSums column_sums(const Statistics& statistics, const Wanted& wanted);
  ExampleSums number_pairs(const Statistics& statistics, const Wanted& wanted);
  ExampleSums name_pairs(const Statistics& statistics, const Wanted& wanted);
  double absolute_difference(std::span<const double> cells) const;

  Measure measure_;
  std::string key_;
  std::map<std::string, std::uint32_t> groups_;  ///< first cell of each key; a key has a cell for each column
  NumberPairs numbers_;                          ///< the cells of reducers of pairs of numbers
  NamePairs names_;                              ///< the cells of `matthews`
};

}  // namespace encore
