// See example_scores.hpp.
#include "report/example_scores.hpp"

#include <cmath>
#include <sstream>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "config/input_file.hpp"
#include "config/json_text.hpp"
#include "report/statistics.hpp"

namespace encore {

namespace {

NerCounts& operator+=(NerCounts& sum, const NerCounts& counts) {
  sum.truth += counts.truth;
  sum.predicted += counts.predicted;
  sum.correct += counts.correct;
  return sum;
}

NerCounts counts_of(const std::vector<std::string>& truth, const std::vector<std::string>& predicted,
                    const ExampleMeasure& measure) {
  NerCounts counts;
  if (measure.kind == ExampleMeasure::Kind::token_accuracy) {
    counts.truth = counts.predicted = static_cast<std::int64_t>(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
      counts.correct += (i < predicted.size() ? predicted[i] : "O") == truth[i] ? 1 : 0;
    return counts;
  }
  std::map<std::string, NerCounts> types;
  count_entities(truth, predicted, types);
  for (const auto& [type, of_type] : types)
    if (measure.type.empty() || measure.type == type) counts += of_type;
  return counts;
}

/// The counts of all runs, example by example, `weight` times: integers, so that the order of sums cannot
/// matter.
std::vector<NerCounts> summed(std::span<const std::vector<NerCounts>> runs, std::size_t weight) {
  const auto factor = static_cast<std::int64_t>(weight);
  std::vector<NerCounts> sums(runs.front().size());
  for (const auto& run : runs) {
    ENCORE_REQUIRE(run.size() == sums.size(), "all runs have the same examples");
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += {run[i].truth * factor, run[i].predicted * factor, run[i].correct * factor};
  }
  return sums;
}

}  // namespace

double ExampleMeasure::value(const NerCounts& sum) const {
  switch (kind) {
    case Kind::f1:
      return sum.f1();
    case Kind::precision:
    case Kind::token_accuracy:
      return sum.precision();
    case Kind::recall:
      break;
  }
  return sum.recall();
}

std::optional<ExampleMeasure> example_measure(const std::string& metric) {
  const std::size_t first = metric.find('/'), second = metric.find('/', first + 1);
  if (first == std::string::npos) return std::nullopt;
  ExampleMeasure measure;
  measure.split = metric.substr(0, first);
  if (measure.split != "dev" && measure.split != "test") return std::nullopt;
  const std::string name = metric.substr(first + 1, second - first - 1);
  if (second != std::string::npos) measure.type = metric.substr(second + 1);
  if (name == "f1")
    measure.kind = ExampleMeasure::Kind::f1;
  else if (name == "precision")
    measure.kind = ExampleMeasure::Kind::precision;
  else if (name == "recall")
    measure.kind = ExampleMeasure::Kind::recall;
  else if (name == "token_accuracy" && measure.type.empty())
    measure.kind = ExampleMeasure::Kind::token_accuracy;
  else
    return std::nullopt;
  return measure;
}

std::vector<NerCounts> read_example_counts(const std::filesystem::path& predictions,
                                           const ExampleMeasure& measure) {
  std::istringstream in(read_file(predictions));
  std::vector<NerCounts> counts;
  const auto refuse = [&] {
    throw Error(predictions.string() + ":" + std::to_string(counts.size() + 1) +
                ": is no JSON object with \"truth\" and \"predicted\"");
  };
  for (std::string line; std::getline(in, line);) {
    try {
      const nlohmann::json example = parse_json(line);
      counts.push_back(counts_of(example.at("truth").get<std::vector<std::string>>(),
                                 example.at("predicted").get<std::vector<std::string>>(), measure));
    } catch (const JsonError&) {
      refuse();
    } catch (const nlohmann::json::exception&) {
      refuse();
    }
  }
  return counts;
}

PermutationTest permutation_test(std::span<const std::vector<NerCounts>> a,
                                 std::span<const std::vector<NerCounts>> b, const ExampleMeasure& measure,
                                 std::size_t shuffles, std::uint64_t seed) {
  ENCORE_REQUIRE(!a.empty() && !b.empty() && a.front().size() == b.front().size(),
                 "both sides have runs, and all of them the same examples");
  // As many predictions on either side, however many runs.
  const std::vector<NerCounts> left = summed(a, b.size()), right = summed(b, a.size());
  NerCounts sum_left, sum_all;
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum_left += left[i];
    sum_all += left[i];
    sum_all += right[i];
  }
  const auto difference_of = [&](const NerCounts& one) {
    const NerCounts other = {sum_all.truth - one.truth, sum_all.predicted - one.predicted,
                             sum_all.correct - one.correct};
    return measure.value(one) - measure.value(other);
  };
  PermutationTest test{difference_of(sum_left), 1.0, left.size(), shuffles};
  std::size_t as_large = 0;
  const std::size_t words = (left.size() + 63) / 64;
  for (std::size_t shuffle = 0; shuffle < shuffles; ++shuffle) {
    NerCounts sum;
    std::uint64_t coins = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (i % 64 == 0) coins = random_word(seed, shuffle * words + i / 64);
      sum += (coins & 1U) != 0 ? right[i] : left[i];
      coins >>= 1U;
    }
    if (std::abs(difference_of(sum)) >= std::abs(test.difference)) ++as_large;
  }
  test.p = static_cast<double>(1 + as_large) / static_cast<double>(1 + shuffles);
  return test;
}

}  // namespace encore
