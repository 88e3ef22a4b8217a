// SPDX-License-Identifier: BSD-3-Clause
// Tests that the experiments in golden/experiments keep the values of identities.json: the SHA-256 of their
// question (plan/identity.hpp), by which databases know their runs, and the losses after each epoch. No later
// version may change the hashes. Losses are compared with a tolerance, because the libraries choose their
// kernels by the CPU, and with a smooth activation: at the corner of relu a difference of one rounding turns
// a unit on or off, and no tolerance covers what follows. states.py compares the bits of two states of the
// project on one machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "plan/identity.hpp"
#include "runner/worker_process.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

const std::filesystem::path folder = ENCORE_SOURCE_DIR "/tests/golden";

constexpr const char* smooth = "model.layer.feed_forward.activation=gelu";

const json& identities() {
  static const json all = json::parse(std::ifstream(folder / "identities.json"));
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "experiments"))
    list.push_back(entry.path().stem());
  std::ranges::sort(list);
  return list;
}

std::string file_of(const std::string& name) {
  return (folder / "experiments" / (name + ".toml")).string();
}

class GoldenIdentity : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenIdentity, QuestionAndGroupAreThoseThatDatabasesHold) {
  ASSERT_TRUE(identities().contains(GetParam())) << "identities.json lacks " << GetParam();
  const json& expected = identities().at(GetParam());
  const Sandbox sandbox;
  const runner::ProgramOutput plan = sandbox.exp({"plan", file_of(GetParam()), "--json"});
  ASSERT_EQ(plan.end.exit_code, 0) << plan.output;
  const json run = json::parse(plan.output).at("runs").at(0);
  EXPECT_EQ(run.at("question"), expected.at("question"));
  EXPECT_EQ(run.at("group"), expected.at("group"));
}

TEST_P(GoldenIdentity, LossesAreThoseOfBefore) {
  const json& expected = identities().at(GetParam());
  if (!expected.contains("losses")) GTEST_SKIP() << "the same question as another experiment";
  const Sandbox sandbox(true);
  if (!runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"}).end.success())
    GTEST_SKIP() << "the worker of this build does not run here";
  const runner::ProgramOutput run = sandbox.exp({"run", file_of(GetParam()), "-q", "--set", smooth});
  ASSERT_EQ(run.end.exit_code, 0) << run.output;
  // The stored run has the question of the file: the question follows from the stored settings.
  const std::string id = sandbox.one("SELECT id FROM run");
  const plan::RecomputedIdentity again =
      plan::recompute_identity(record::Specification::load(sandbox.folder() / "encore.db.runs" / id),
                               config::Catalogue::survey({ENCORE_BUILD_DIR "/lib/encore/plugins"}));
  EXPECT_EQ(again.uncertain, "");
  EXPECT_EQ(again.question, sandbox.one("SELECT question FROM run"));
  EXPECT_EQ(again.group, sandbox.one("SELECT group_id FROM run"));
  const double tolerance = expected.at("tolerance");
  for (const auto& [metric, values] : expected.at("losses").items()) {
    const std::vector<std::string> points = sandbox.query(
        "SELECT printf('%!.17g', value) FROM point JOIN metric ON metric.number = metric WHERE name = '" +
        metric +
        "' AND step IN (SELECT step FROM point JOIN metric ON metric.number = metric WHERE name = "
        "'dev/loss') "
        "ORDER BY step");
    ASSERT_EQ(points.size(), values.size()) << metric;
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_NEAR(std::strtod(points[i].c_str(), nullptr), values[i].get<double>(), tolerance)
          << metric << " after epoch " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Experiments, GoldenIdentity, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(GoldenIdentity, SettingsThatDoNotCountChangeNoQuestion) {
  for (const char* same : {"select_written", "without_root"})
    EXPECT_EQ(identities().at(same).at("question"), identities().at("linear").at("question")) << same;
}

}  // namespace
}  // namespace encore::system_test
