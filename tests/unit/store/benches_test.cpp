// SPDX-License-Identifier: BSD-3-Clause
// Tests the results of `exp bench` in the database (store/benches.hpp): they are stored, listed and read
// again bit by bit, and an unknown name is reported with the nearest one. Other tests check which JSON of a
// result (store/bench_result.hpp) is refused because reports could not read it. Stored results of older
// versions must stay readable.
#include "store/benches.hpp"

#include <functional>

#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::message_of;
using testing::StoreTest;

BenchResult sample() {
  BenchResult result;
  result.name = "quick";
  result.file = "quick.toml";
  result.created = 12.5;
  result.settings = {{"rounds", 2}};
  result.noise = {{"steal_share", 0.5}};
  BenchCase machine;
  machine.name = "openmp, 1 thread";
  machine.machine = true;
  machine.settings = {{"backend", "openmp"}, {"threads", 1}};
  machine.host = {{"name", "here"}};
  machine.build = {{"compiler", "c"}};
  machine.environment = {{"device", "d"}};
  machine.facts = {{"copy", {{"bytes", 8}}}};
  machine.samples = {{"copy", {0.1, 1.0 / 3.0}}};
  BenchCase step = machine;
  step.name = "float32, batch 4, openmp, 1 thread";
  step.machine = false;
  step.samples = {{"step", {1e-3, 2e-3}}, {"matmul", {5e-4, 6e-4}}};
  result.cases = {machine, step};
  return result;
}

TEST_F(StoreTest, AMeasurementComesBackBitByBit) {
  EXPECT_EQ(add_bench(store(), sample()), "quick");
  EXPECT_EQ(read_bench(store(), "quick").to_json(), sample().to_json());
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM bench_sample"), 6);
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM host"), 1) << "a machine is stored once";
}

TEST_F(StoreTest, ANameThatIsTakenGetsANumber) {
  EXPECT_EQ(add_bench(store(), sample()), "quick");
  EXPECT_EQ(add_bench(store(), sample()), "quick-2");
  BenchResult later = sample();
  later.created = 99.0;
  EXPECT_EQ(add_bench(store(), later), "quick-3");
  const std::vector<BenchRow> rows = list_benches(store());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "quick-3") << "newest first";
  EXPECT_EQ(rows[0].host, "here");
  EXPECT_EQ(rows[0].cases, 1);
  EXPECT_EQ(rows[0].rounds, 2);
}

TEST_F(StoreTest, AMissingMeasurementIsReportedWithTheNearest) {
  EXPECT_EQ(message_of<Error>([&] { read_bench(store(), "quick"); }),
            "there is no measurement \"quick\"; exp bench makes the first");
  add_bench(store(), sample());
  EXPECT_EQ(message_of<Error>([&] { read_bench(store(), "qiuck"); }),
            "there is no measurement \"qiuck\"; did you mean \"quick\"?");
  EXPECT_EQ(message_of<Error>([&] { read_bench(store(), "wnut17"); }),
            "there is no measurement \"wnut17\"; exp bench ls lists all");
}

TEST(BenchResult, IsRefusedWhereTheReportCouldNotReadIt) {
  const auto refusal = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = sample().to_json();
    change(json);
    return message_of<Error>([&] { BenchResult::from_json(json, "a.json"); });
  };
  EXPECT_EQ(refusal([](nlohmann::json& json) { json["settings"] = 1; }),
            "a.json: settings must be a JSON object, found 1");
  EXPECT_EQ(
      refusal([](nlohmann::json& json) { json["cases"][1]["facts"] = "none"; }),
      "a.json: facts of case \"float32, batch 4, openmp, 1 thread\" must be a JSON object, found \"none\"");
  EXPECT_EQ(
      refusal([](nlohmann::json& json) { json["cases"][0]["samples"]["copy"][1] = -1.0; }),
      "a.json: a sample of \"copy\" of case \"openmp, 1 thread\" must be a number from 0 on, found -1.0");
  EXPECT_EQ(refusal([](nlohmann::json& json) { json["format"] = "1"; }),
            "a.json is not a result of exp bench --json: its format is \"1\", this exp reads 1");
}

TEST(BenchResult, MachineOfIgnoresACaseWithSettingsOfAnotherType) {
  BenchResult result = sample();
  EXPECT_EQ(result.machine_of(result.cases[1]), &result.cases[0]);
  result.cases[0].settings["threads"] = {{"rounds", 2}};
  EXPECT_EQ(result.machine_of(result.cases[1]), nullptr);
}

}  // namespace
}  // namespace encore::store
