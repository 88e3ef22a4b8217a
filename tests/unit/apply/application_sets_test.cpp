// SPDX-License-Identifier: BSD-3-Clause
// The share of the development set that steps are fitted on (apply/application_sets.hpp): it has each record
// with the same probability, and the labels in their shares. A promise about errors needs both, because
// errors gather at rare labels.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "apply/application_sets.hpp"

namespace encore::apply {
namespace {

/// Returns a label for each record: "1" once, "2" twice, and so on to "9".
Records::Texts labels_of_all_sizes() {
  Records::Texts labels;
  for (int size = 1; size <= 9; ++size)
    for (int i = 0; i < size; ++i) labels.push_back(std::to_string(size));
  return labels;
}

std::vector<std::uint64_t> random_hashes(std::size_t count, std::mt19937_64& random) {
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

class FitShare : public testing::TestWithParam<double> {};

TEST_P(FitShare, HasRecordsOfRareAndOfFrequentLabelsWithTheSameProbability) {
  const Records::Texts labels = labels_of_all_sizes();
  constexpr int draws = 4000;
  std::map<std::string, double> chosen, all;
  std::mt19937_64 random(1);
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<bool> is_fit = fit_share(random_hashes(labels.size(), random), &labels, GetParam());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      all[labels[i]] += 1.0;
      chosen[labels[i]] += is_fit[i] ? 1.0 : 0.0;
    }
  }
  for (const auto& [label, count] : all) {
    const double deviation = std::sqrt(0.25 / draws);  // at most, of a mean over draws
    EXPECT_NEAR(chosen[label] / count, GetParam(), 4.0 * deviation) << "a label with " << label << " records";
  }
}

TEST_P(FitShare, HasEachLabelInItsShareUpToOneRecord) {
  const Records::Texts labels = labels_of_all_sizes();
  std::mt19937_64 random(2);
  for (int draw = 0; draw < 100; ++draw) {
    const std::vector<bool> is_fit = fit_share(random_hashes(labels.size(), random), &labels, GetParam());
    std::map<std::string, double> chosen;
    for (std::size_t i = 0; i < labels.size(); ++i) chosen[labels[i]] += is_fit[i] ? 1.0 : 0.0;
    for (const auto& [label, count] : chosen)
      EXPECT_LT(std::abs(count - std::stod(label) * GetParam()), 1.0)
          << "a label with " << label << " records";
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, FitShare, testing::Values(0.5, 0.3, 0.75));

TEST(FitShareOfEqualRecords, KeepsThemTogether) {
  const Records::Texts labels = {"a", "b", "a", "b", "a"};
  const std::vector<std::uint64_t> hashes = {7, 7, 7, 1, 9};
  for (const double share : {0.2, 0.5, 0.8}) {
    const std::vector<bool> is_fit = fit_share(hashes, &labels, share);
    EXPECT_EQ(is_fit[0], is_fit[1]) << share;
    EXPECT_EQ(is_fit[0], is_fit[2]) << share;
  }
}

TEST(FitShareOfAll, TakesEveryRecord) {
  const Records::Texts labels = labels_of_all_sizes();
  std::mt19937_64 random(3);
  for (const bool is_fit : fit_share(random_hashes(labels.size(), random), &labels, 1.0)) EXPECT_TRUE(is_fit);
}

TEST(FitShareWithoutLabels, IsThatOfAllRecords) {
  std::mt19937_64 random(4);
  const std::vector<bool> is_fit = fit_share(random_hashes(200, random), nullptr, 0.25);
  EXPECT_EQ(std::ranges::count(is_fit, true), 50);
}

}  // namespace
}  // namespace encore::apply
