// SPDX-License-Identifier: BSD-3-Clause
// Tests the drift that `exp verify` and `exp diff` measure (runner/drift.hpp), between two numeric
// environments of this machine: oneDNN limited to the oldest instruction set against all that the processor
// has. Most numbers are computed again here, from checkpoints and the database, without code of Encore; keep
// it so, or an error would be on both sides.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;

/// Reads the float32 tensors of a safetensors file: length, JSON header, data.
Tensors tensors_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  Tensors tensors;
  const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    EXPECT_EQ(entry.at("dtype"), "F32");
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
    std::vector<float>& values = tensors[name];
    values.resize((end - begin) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + 8 + length + begin, end - begin);
  }
  return tensors;
}

/// The expected figures of one tensor or one layer, of which the sides `one` and `other` are compared.
struct Expected {
  long double difference = 0, one = 0, other = 0, largest = 0;  // the first three are sums of squares
  std::int64_t values = 0, different = 0, ulps = 0;

  void add(const std::vector<float>& a, const std::vector<float>& b) {
    ASSERT_EQ(a.size(), b.size());
    values += static_cast<std::int64_t>(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const long double x = a[i], y = b[i];
      one += x * x;
      other += y * y;
      difference += (x - y) * (x - y);
      largest = std::max(largest, std::abs(x - y));
      if (std::memcmp(&a[i], &b[i], sizeof(float)) == 0) continue;
      ++different;
      ulps = std::max(ulps, steps_between(a[i], b[i]));
    }
  }
  /// Returns the number of float32 values from a to b. Their order is that of sign and magnitude, as IEEE 754
  /// stores them.
  static std::int64_t steps_between(float a, float b) {
    const auto place = [](float value) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
      return (bits >> 31) != 0 ? -magnitude : magnitude;
    };
    return std::abs(place(a) - place(b));
  }
};

void expect_figures(const nlohmann::json& found, const Expected& expected) {
  SCOPED_TRACE(found.at("name").get<std::string>());
  EXPECT_EQ(found.at("values"), expected.values);
  EXPECT_EQ(found.at("different"), expected.different);
  EXPECT_EQ(found.at("ulps").get<std::int64_t>(), expected.ulps);
  EXPECT_DOUBLE_EQ(found.at("largest").get<double>(), static_cast<double>(expected.largest));
  const long double norm = std::sqrt(std::max(expected.one, expected.other));
  const double relative = norm > 0 ? static_cast<double>(std::sqrt(expected.difference) / norm) : 0.0;
  EXPECT_NEAR(found.at("relative").get<double>(), relative, 1e-9 * relative);
}

/// Compares one step of a drift with the two files of that step.
void expect_step(const nlohmann::json& step, const std::filesystem::path& one,
                 const std::filesystem::path& other) {
  const Tensors a = tensors_of(one), b = tensors_of(other);
  ASSERT_EQ(step.at("tensors").size(), a.size()) << "every tensor is listed";
  std::map<std::string, Expected> layers;
  for (const nlohmann::json& tensor : step.at("tensors")) {
    const std::string name = tensor.at("name");
    Expected expected;
    expected.add(a.at(name), b.at(name));
    expect_figures(tensor, expected);
    const std::string prefix = "parameter/";
    if (!name.starts_with(prefix)) continue;
    for (const std::string layer : {"embedding", "encoder.0", "head"})
      if (name.starts_with(prefix + layer + ".")) layers[layer].add(a.at(name), b.at(name));
  }
  ASSERT_EQ(step.at("layers").size(), 3u) << step.at("layers").dump();
  for (const nlohmann::json& layer : step.at("layers"))
    expect_figures(layer, layers.at(layer.at("name").get<std::string>()));
}

std::string checkpoint(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return "checkpoints/step-" + std::string(8 - digits.size(), '0') + digits + ".safetensors";
}

class TwoInstructionSets : public ::testing::Test {
 protected:
  /// Trains with SSE 4.1 alone; later commands may use all instruction sets.
  void SetUp() override {
    sandbox.set("ONEDNN_MAX_CPU_ISA", "DEFAULT");
    const runner::ProgramOutput version = sandbox.shell(ENCORE_BUILD_DIR "/bin/encore-worker version");
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
    if (contains(version.output, "(sse41)")) GTEST_SKIP() << "this processor has no later instruction set";
    sandbox.write("tiny.toml", best_at_first(sandbox));
    sandbox.set("ONEDNN_MAX_CPU_ISA", "SSE41");
    const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml"});
    ASSERT_EQ(run.end.exit_code, 0) << run.output << run.errors;
    sandbox.set("ONEDNN_MAX_CPU_ISA", "DEFAULT");
    const std::string gemm = sandbox.one("SELECT environment ->> '$.gemm' FROM attempt");
    if (!contains(gemm, "oneDNN")) GTEST_SKIP() << "matrix products are by " << gemm;
    ASSERT_TRUE(contains(gemm, "(sse41)"))
        << gemm << ": the environment does not say what the bits depend on";
  }
  std::filesystem::path folder(const std::string& run) const {
    return sandbox.folder() / "encore.db.runs" / sandbox.one("SELECT id FROM run WHERE name = '" + run + "'");
  }
  Sandbox sandbox{true};
};

TEST_F(TwoInstructionSets, VerifyMeasuresTheDriftOfEveryStepAndLayer) {
  const runner::ProgramOutput output = sandbox.exp({"verify", "tiny", "--json", "--keep"});
  ASSERT_EQ(output.end.exit_code, 3) << output.output << output.errors;
  const nlohmann::json verdict = nlohmann::json::parse(output.output);
  EXPECT_EQ(verdict.at("outcome"), "not comparable");
  const nlohmann::json& differences = verdict.at("details").at("environment").at("differences");
  ASSERT_EQ(differences.size(), 1u) << differences.dump();
  EXPECT_EQ(differences.at(0).at("field"), "gemm");
  const nlohmann::json& drift = verdict.at("details").at("drift");
  ASSERT_EQ(drift.at("steps").size(), 2u) << "the best and the last";
  double sum = 0;
  for (const nlohmann::json& step : drift.at("steps")) {
    const std::string file = checkpoint(step.at("step"));
    expect_step(step, folder("tiny") / file, verdict.at("folder").get<std::string>() + "/" + file);
    for (const nlohmann::json& layer : step.at("layers")) sum += layer.at("relative").get<double>();
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_LT(sum, 1e-3) << "two orders of summation, not two trainings";
  bool told = false;
  for (const nlohmann::json& curve : drift.at("curves")) told = told || curve.at("metric") == "train/loss";
  EXPECT_TRUE(told) << drift.at("curves").dump();
  EXPECT_EQ(nlohmann::json::parse(sandbox.one("SELECT details ->> '$.drift' FROM verification")), drift)
      << "the drift is stored with the verdict";
}

TEST_F(TwoInstructionSets, DiffMeasuresTheDriftOfTwoRunsWithoutTrainingAgain) {
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--fresh"}).end.exit_code, 0);
  const runner::ProgramOutput output = sandbox.exp({"diff", "tiny", "tiny-2", "--drift", "--json"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const nlohmann::json drift = nlohmann::json::parse(output.output).at("drift");
  ASSERT_EQ(drift.at("steps").size(), 2u);
  for (const nlohmann::json& step : drift.at("steps")) {
    const std::string file = checkpoint(step.at("step"));
    expect_step(step, folder("tiny") / file, folder("tiny-2") / file);
  }
  // The loss curve, step by step, from the database.
  std::string first = "never";
  double largest = 0;
  for (int step = 1; step <= 20; ++step) {
    const auto value = [&](const char* run) {
      return std::stod(
          sandbox.one("SELECT printf('%.17g', value) FROM curve WHERE metric = 'train/loss' AND step = " +
                      std::to_string(step) + " AND run = '" + run + "'"));
    };
    const double a = value("tiny"), b = value("tiny-2");
    if (a != b && first == "never") first = std::to_string(step);
    largest = std::max(largest, std::abs(a - b) / std::max(std::abs(a), std::abs(b)));
  }
  for (const nlohmann::json& curve : drift.at("curves")) {
    if (curve.at("metric") != "train/loss") continue;
    EXPECT_EQ(curve.at("steps"), 20);
    EXPECT_EQ(curve.at("first_difference").is_null() ? "never" : curve.at("first_difference").dump(), first);
    EXPECT_NEAR(curve.at("largest").get<double>(), largest, 1e-12);
  }
  const std::string text = sandbox.exp({"diff", "tiny", "tiny-2", "--drift", "--tolerance", "0"}).output;
  for (const char* part : {"gemm", "(sse41)", "drift of the layers, relative to their norm:", "encoder.0",
                           "drift of the loss, relative:", "train/loss", "BY OVER 0 FROM"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_FALSE(contains(sandbox.exp({"diff", "tiny", "tiny-2"}).output, "drift")) << "only on request";
}

TEST_F(TwoInstructionSets, ABundleWithWeightsAloneShowsItsDriftAndTheScoresOfBothSides) {
  sandbox.set("ONEDNN_MAX_CPU_ISA", "SSE41");
  for (const char* seed : {"11", "12"})
    ASSERT_EQ(sandbox
                  .exp({"run", "tiny.toml", "-S", std::string("seed=") + seed, "-S",
                        std::string("name=\"tiny-") + seed + "\""})
                  .end.exit_code,
              0);
  const runner::ProgramOutput packed = sandbox.exp({"bundle", "all", "-o", "tiny.tar.zst"});
  ASSERT_EQ(packed.end.exit_code, 0) << packed.errors;
  sandbox.set("ONEDNN_MAX_CPU_ISA", "DEFAULT");
  const runner::ProgramOutput output = sandbox.exp({"verify", "tiny.tar.zst", "tiny", "--json"});
  ASSERT_EQ(output.end.exit_code, 3) << output.output << output.errors;
  const nlohmann::json details = nlohmann::json::parse(output.output).at("details");
  ASSERT_EQ(details.at("drift").at("steps").size(), 1u) << details.at("drift").dump();
  EXPECT_FALSE(details.contains("drift_unknown")) << details.at("drift_unknown");
  const nlohmann::json& step = details.at("drift").at("steps").at(0);
  EXPECT_EQ(std::to_string(step.at("step").get<int>()),
            sandbox.one("SELECT result ->> '$.best_step' FROM run WHERE name = 'tiny'"));
  for (const nlohmann::json& tensor : step.at("tensors")) {
    EXPECT_TRUE(tensor.at("name").get<std::string>().starts_with("parameter/"));
    EXPECT_FALSE(tensor.at("relative").is_null()) << tensor.dump();
  }
  const nlohmann::json& scores = details.at("final_scores");
  ASSERT_FALSE(scores.empty());
  bool has_loss = false;
  for (const nlohmann::json& score : scores) {
    const std::string metric = score.at("metric");
    EXPECT_NEAR(score.at("run").get<double>(),
                std::stod(sandbox.one("SELECT result ->> '$.measures.\"" + metric +
                                      "\"' FROM run WHERE name = 'tiny'")),
                1e-9)
        << metric;
    EXPECT_EQ(score.at("seeds"), 3) << metric;
    if (metric != "dev/loss") continue;
    has_loss = true;
    EXPECT_LT(score.at("low").get<double>(), score.at("verification").get<double>());
    EXPECT_GT(score.at("high").get<double>(), score.at("verification").get<double>());
  }
  EXPECT_TRUE(has_loss) << scores.dump();
  const std::string text = sandbox.exp({"verify", "tiny.tar.zst", "tiny"}).output;
  for (const char* part :
       {"drift of the layers, relative to their norm:", "scores of both sides; LOW to HIGH", "dev/loss"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST_F(TwoInstructionSets, DiffRefusesAToleranceThatCannotBeMeant) {
  for (const auto& [options, message] :
       std::map<std::string, std::string>{{"-1", "--tolerance must be a number from 0 on"},
                                          {"nan", "--tolerance must be a number from 0 on"},
                                          {"x", "tolerance"}}) {
    const runner::ProgramOutput output =
        sandbox.exp({"diff", "tiny", "tiny", "--drift", "--tolerance=" + options});
    EXPECT_EQ(output.end.exit_code, 2) << options;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  }
  const runner::ProgramOutput alone = sandbox.exp({"diff", "tiny", "tiny", "--tolerance", "1"});
  EXPECT_EQ(alone.end.exit_code, 2);
  EXPECT_TRUE(contains(alone.errors, "--tolerance needs --drift")) << alone.errors;
}

}  // namespace
}  // namespace encore::system_test
