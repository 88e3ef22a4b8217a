// What measures (encore/measure.hpp) are worth for the statistics of examples: one arithmetic for the
// trainer, for `exp evaluate` and for every test that resamples examples. Place in the flow: Task::measure ->
// Statistics -> here. Read next: measure_json.hpp for the form in which both are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

#include "base/pair_measures.hpp"

namespace encore {

/// As people write it: the title, else the name.
const std::string& title_of(const Measure& measure);

/// "f1/{label}" stands for one measure for each key of its columns: "f1/PER", "f1/LOC".
bool is_family(const Measure& measure);
/// "f1" of "f1/{label}".
std::string family_name(const Measure& family);
/// "f1/PER" for the key "PER".
std::string member_name(const Measure& family, std::string_view key);
/// "PER" for "f1/PER"; nothing where the name is none of the family.
std::optional<std::string> key_in_name(const Measure& family, std::string_view name);

/// False: `matrix` is a table, and what `opaque` says follows from nothing here.
bool has_value(Reducer reducer);
/// "needs 2 columns, not 1" where a reducer cannot have so many columns, else "". `opaque` takes any.
std::string column_problem(Reducer reducer, std::size_t columns);

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

/// Of a measure that is no family and has a value, over all examples.
double measure_value(const Measure& measure, const Statistics& statistics);

/// Everything that has a value, families as their members in the order of the keys: {"f1", 0.9}, {"f1/LOC",
/// 0.8} ...
std::vector<std::pair<std::string, double>> measure_values(std::span<const Measure> measures,
                                                           const Statistics& statistics);

/// What was taken for what: the counts of a measure with the reducer `matrix`, summed over examples and sets.
class CountMatrix {
 public:
  void add(const Measure& measure, const Statistics& statistics);
  void add(const std::string& truth, const std::string& predicted, double count);

  bool empty() const { return counts_.empty(); }
  /// Sorted: what stands in the truth or in the predictions.
  std::vector<std::string> names() const;
  /// counts()[truth][predicted], both numbered as in names().
  std::vector<std::vector<double>> counts() const;
  /// By truth and prediction.
  const std::map<std::pair<std::string, std::string>, double>& pairs() const { return counts_; }

 private:
  std::map<std::pair<std::string, std::string>, double> counts_;
};

}  // namespace encore
