// The measures of the host follow the rules for measures of a task.
#include "base/host_measures.hpp"

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
