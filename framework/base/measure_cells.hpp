// MeasureCells: the sums from which one measure follows, so that any selection of examples can be summed and
// evaluated quickly. Place in the flow: measures.hpp sums all examples; tests that resample examples sum some
// of them, often.
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

/// The place of each column of the statistics among those of the measure; -1: not one of them.
std::vector<int> places_of(const Measure& measure, const Statistics& statistics);

/// What each example adds to the sums from which one measure follows: sparse, since most examples add to few
/// of them.
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
/// The cells of several sets of statistics fit together; size() grows as keys appear. Not for several threads
/// at once.
class MeasureCells {
 public:
  /// `key`: of the member of a family, and empty for any other measure. Throws Error where nothing follows
  /// from examples (has_value), and where the key is missing.
  explicit MeasureCells(Measure measure, std::string key = {});

  ExampleSums sums_of(const Statistics& statistics);
  std::size_t size() const;
  double value(std::span<const double> cells) const;
  /// False where the value stands for none: one class alone has no area under ranks.
  bool is_defined(std::span<const double> cells) const;

 private:
  struct Wanted;
  ExampleSums column_sums(const Statistics& statistics, const Wanted& wanted);
  ExampleSums number_pairs(const Statistics& statistics, const Wanted& wanted);
  ExampleSums name_pairs(const Statistics& statistics, const Wanted& wanted);

  Measure measure_;
  std::string key_;
  std::map<std::string, std::uint32_t> groups_;  ///< by key: the first of its cells, one for each column
  NumberPairs numbers_;                          ///< the cells of reducers that look at pairs of numbers
  NamePairs names_;                              ///< the cells of `matthews`
};

}  // namespace encore
