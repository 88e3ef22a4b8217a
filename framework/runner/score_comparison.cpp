// Compares each value of dev and test by its bits.
#include "runner/score_comparison.hpp"

#include <bit>
#include <cmath>

#include "base/metric.hpp"
#include "runner/drift.hpp"

namespace encore {

namespace {

bool is_score(std::string_view metric) {
  const std::string split = Metric{.name = std::string(metric)}.split();
  return !split.empty() && split != "train";
}

}  // namespace

bool same_value(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

ScoreComparison compare_scores(Store& store, std::int64_t run, const std::filesystem::path& verification,
                               std::int64_t from) {
  const std::map<std::string, Curve> found = read_curves(verification, is_score);
  ScoreComparison comparison;
  for (const auto& [metric, curve] : read_curves(store, run, is_score))
    for (const auto& [step, value] : curve) {
      if (step <= from) continue;
      ++comparison.compared;
      std::optional<double> again;
      if (const auto own = found.find(metric); own != found.end())
        if (const auto point = own->second.find(step); point != own->second.end()) again = point->second;
      if (again && same_value(value, *again)) continue;
      ++comparison.different;
      if (!comparison.first || step < comparison.first->step)
        comparison.first =
            ScoreDifference{.metric = metric, .step = step, .run = value, .verification = again};
    }
  return comparison;
}

}  // namespace encore
