// SPDX-License-Identifier: BSD-3-Clause
// Tests the measures that the trainer itself reports for every task (base/measures.hpp): each is valid, reads
// back from JSON as it was, and only the loss has a direction, so that `train.select` accepts no other one.
// The list and its names are stored with runs, so no name may change.
#include "base/measures.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/measure_json.hpp"

namespace encore {
namespace {

TEST(HostMeasures, AreSoundAndOnlyTheLossCanBeSelectedBy) {
  for (const Measure& measure : training_measures()) {
    EXPECT_EQ(measure_in(json_of(measure)), measure) << measure.name;
    EXPECT_EQ(measure.better, measure == loss_measure() ? Better::lower : Better::neither) << measure.name;
  }
  EXPECT_EQ(training_measures().front(), loss_measure());
}

}  // namespace
}  // namespace encore
