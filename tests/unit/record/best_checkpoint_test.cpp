// SPDX-License-Identifier: BSD-3-Clause
// Tests take_score() (record/best_checkpoint.hpp), which decides which checkpoint a run keeps as the best: on
// random evaluations no other one with an equal metric has a lower loss, a resumed run decides like an
// unbroken one, and runs without the rule for ties keep the earliest, as earlier versions did.
#include "record/best_checkpoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace encore::record {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns what a run keeps after these evaluations. Before each one the Progress is written and read again,
/// as by a checkpoint and a resume.
Progress kept_of(const std::vector<DevScore>& scores, bool maximize, Ties ties) {
  Progress progress;
  for (const DevScore& score : scores) {
    progress = progress_from_text(progress_to_text(progress));
    const bool is_best = take_score(progress, score, maximize, ties);
    EXPECT_EQ(is_best, progress.best_step == score.step);
  }
  return progress;
}

std::vector<DevScore> scores_of(const std::vector<std::optional<double>>& values,
                                const std::vector<double>& losses) {
  std::vector<DevScore> scores;
  for (std::size_t i = 0; i < values.size(); ++i)
    scores.push_back({.step = static_cast<std::int64_t>(i + 1), .value = values[i], .loss = losses[i]});
  return scores;
}

/// Returns for each evaluation whether patience counts it.
std::vector<bool> counted_by_patience(const std::vector<DevScore>& scores, Ties ties) {
  Progress progress;
  std::vector<bool> counted;
  for (const DevScore& score : scores) {
    progress.improved_in_epoch = false;
    take_score(progress, score, true, ties);
    counted.push_back(!progress.improved_in_epoch);
  }
  return counted;
}

enum class Kind : std::uint8_t {
  constant,
  undefined,
  saturated,
  partly_undefined,
  few_values,
  moving,
  count
};

std::optional<double> drawn_value(Kind kind, std::size_t evaluation, std::mt19937& random) {
  switch (kind) {
    case Kind::constant:
      return 0.0;
    case Kind::undefined:
      return std::nullopt;
    case Kind::saturated:
      return evaluation < 2 ? 0.25 * static_cast<double>(evaluation) : 1.0;
    case Kind::partly_undefined:
      return random() % 2 == 0 ? std::nullopt : std::optional(0.5);
    case Kind::few_values:
      return static_cast<double>(random() % 3) / 2.0;
    default:
      return static_cast<double>(random() % 100000) / 100000.0;
  }
}

TEST(BestCheckpoint, IsNeverWorseInLossThanAnotherWithAnEqualMetric) {
  std::mt19937 random(5);
  for (unsigned set = 0; set < 300; ++set) {
    const auto kind = static_cast<Kind>(set % static_cast<unsigned>(Kind::count));
    const bool maximize = set % 4 != 3;
    std::vector<DevScore> scores;
    for (std::size_t i = 0; i < 2 + set % 9; ++i)
      scores.push_back({.step = static_cast<std::int64_t>(10 * (i + 1)),
                        .value = drawn_value(kind, i, random),
                        .loss = random() % 7 == 0 ? nan : static_cast<double>(random() % 5)});
    const Progress progress = kept_of(scores, maximize, Ties::loss);
    const auto kept = std::ranges::find(scores, progress.best_step, &DevScore::step);
    ASSERT_NE(kept, scores.end());
    const double kept_loss = std::isnan(kept->loss) ? infinity : kept->loss;
    for (const DevScore& other : scores) {
      const double loss = std::isnan(other.loss) ? infinity : other.loss;
      if (other.value == kept->value) {
        EXPECT_LE(kept_loss, loss) << "set " << set;
        EXPECT_TRUE(loss > kept_loss || other.step <= kept->step) << "set " << set << ": the later of equals";
      } else if (other.value) {
        ASSERT_TRUE(kept->value) << "set " << set << ": any value is better than none";
        EXPECT_EQ(*kept->value > *other.value, maximize) << "set " << set;
      }
    }
  }
}

TEST(BestCheckpoint, IsTheEarliestOfEqualsWithoutTheRule) {
  const auto scores = scores_of({0.0, 0.0, std::nullopt, 0.5, 0.5}, {5.0, 4.0, 3.0, 2.0, 1.0});
  const Progress progress = kept_of(scores, true, Ties::first);
  EXPECT_EQ(progress.best_step, 4);
  EXPECT_FALSE(progress.best_loss || progress.lowest_loss) << "checkpoints are written as before";
  EXPECT_EQ(kept_of({scores[0], scores[1]}, true, Ties::first).best_step, 1);
  EXPECT_EQ(kept_of({scores[0], scores[1]}, true, Ties::loss).best_step, 2);
  EXPECT_EQ(kept_of({scores[2]}, true, Ties::first).best_step, 0) << "an undefined metric chooses nothing";
  EXPECT_EQ(kept_of({scores[2]}, true, Ties::loss).best_step, 3);
}

TEST(BestCheckpoint, PatienceWaitsWhileTheLossOfTiesFalls) {
  const std::vector<double> losses = {3.0, 2.0, 2.0, 1.0, 1.5};
  const std::vector<std::optional<double>> tied(5, 0.0), undefined(5);
  const std::vector<bool> by_loss = {false, false, true, false, true},
                          by_first = {false, true, true, true, true};
  EXPECT_EQ(counted_by_patience(scores_of(tied, losses), Ties::loss), by_loss);
  EXPECT_EQ(counted_by_patience(scores_of(undefined, losses), Ties::loss), by_loss);
  EXPECT_EQ(counted_by_patience(scores_of(tied, losses), Ties::first), by_first);
  EXPECT_EQ(counted_by_patience(scores_of({0.5, std::nullopt, 0.4, std::nullopt}, {3.0, 2.0, 1.0, 2.5}),
                                Ties::loss),
            (std::vector<bool>{false, false, true, true}))
      << "a worse value does not count as better, whatever its loss";
}

}  // namespace
}  // namespace encore::record
