// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp bench` with the real worker (cli/bench_verb.cpp, worker/bench_verb.cpp), from an experiment file
// to tables, JSON and a verdict, and the calls that are rejected before anything starts. No test here may
// check how fast something is, because machines differ.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "support/translating_experiment.hpp"
#include "system/control/sandbox.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class BenchVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }
  runner::ProgramOutput bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "bench");
    return sandbox_.exp(arguments);
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const runner::ProgramOutput output = bench(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs")) << "nothing was started";
  }
  Sandbox sandbox_{true};
};

TEST_F(BenchVerb, MeasuresStepsInTurnAndStoresEverySample) {
  const runner::ProgramOutput output =
      bench({"tiny.toml", "--rounds", "3", "--batches", "2", "--batch-size", "2,4", "--threads", "1,2",
             "--order-cost", "--json", "--quiet"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_EQ(output.errors, "");
  const json result = json::parse(output.output);
  ASSERT_EQ(result.at("cases").size(), 6u) << "two machines, two batch sizes on each";
  const json& step = result.at("summary").at("steps").at(0);
  EXPECT_EQ(step.at("settings"), json({{"backend", "openmp"},
                                       {"threads", 1},
                                       {"precision", "float32"},
                                       {"batch_size", 2},
                                       {"length", 0}}));
  for (const char* key :
       {"tokens_per_second", "step_seconds", "matmul_seconds", "step_over_matmul", "price_of_order"}) {
    EXPECT_TRUE(step.at(key).at("median").is_number()) << key;
    EXPECT_EQ(step.at(key).at("samples"), 3) << key;
  }
  bool normalized = false;
  for (const json& kernel : step.at("kernels")) {
    EXPECT_TRUE(kernel.at("label").get<std::string>().starts_with("encore::")) << kernel;
    normalized = normalized ||
                 (kernel.at("label") == "encore::layer_norm_of_sum" && kernel.contains("flops_per_second"));
  }
  EXPECT_TRUE(normalized) << "the work of a norm is known";
  EXPECT_EQ(result.at("cases").at(1).at("facts").at("allocations"), 0)
      << "a step of a known shape allocates nothing";
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM bench_case"), "6");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM bench_sample WHERE quantity = 'step'"), "12");
  EXPECT_TRUE(std::filesystem::is_empty(sandbox_.folder() / "encore.db.runs")) << "no folder is left";

  const runner::ProgramOutput shown = bench({"show", "tiny"});
  EXPECT_EQ(shown.end.exit_code, 0) << shown.errors;
  EXPECT_TRUE(contains(shown.output, "STEP/PRODUCTS")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "float32, batch 4, openmp, 2 threads: ")) << shown.output;
  EXPECT_TRUE(contains(bench({"ls"}).output, "tiny.toml")) << bench({"ls"}).output;
}

TEST_F(BenchVerb, TheMachineAloneNeedsNoExperiment) {
  const runner::ProgramOutput output = bench({"--rounds", "2", "--name", "here"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_TRUE(contains(output.output, "1024 x 1024 x 1024 float32")) << output.output;
  EXPECT_TRUE(contains(output.output, "triad")) << output.output;
  EXPECT_TRUE(contains(output.output, "medians of 2 rounds; 95 %")) << output.output;
  EXPECT_FALSE(contains(output.output, " \n")) << "no blanks at the end of a line";
  EXPECT_FALSE(contains(output.output, "\033")) << "no colours in a pipe";
  EXPECT_EQ(sandbox_.one("SELECT name || ' ' || file FROM bench"), "here ");
}

TEST_F(BenchVerb, AgainstItsOwnFileNothingHasChangedAndAStepThatIsSlowerIsFound) {
  const runner::ProgramOutput first =
      bench({"tiny.toml", "--rounds", "6", "--batches", "1", "--json", "--quiet"});
  ASSERT_EQ(first.end.exit_code, 0) << first.errors;
  sandbox_.write("before.json", first.output);
  const runner::ProgramOutput same = bench({"show", "tiny", "--against", "before.json"});
  EXPECT_EQ(same.end.exit_code, 0) << same.output << same.errors;
  // faster.json has the samples of before.json with a hundredth of their seconds. Compared with it, the
  // measurement is far slower than noise explains.
  json faster = json::parse(first.output);
  for (json& one : faster.at("cases")) {
    if (one.at("machine").get<bool>()) continue;
    for (json& second : one.at("samples").at("step")) second = 0.01 * second.get<double>();
  }
  sandbox_.write("faster.json", faster.dump());
  const runner::ProgramOutput slower = bench({"show", "tiny", "--against", "faster.json"});
  EXPECT_EQ(slower.end.exit_code, 1) << slower.output << slower.errors;
  EXPECT_TRUE(contains(slower.output, "slower")) << slower.output;
  json elsewhere = json::parse(first.output);
  for (json& one : elsewhere.at("cases")) {
    one["environment"]["device"] = "another CPU";
    one["environment"]["compiler"] = "CC 1.0";
    one["host"]["name"] = "far away";
  }
  sandbox_.write("elsewhere.json", elsewhere.dump());
  const runner::ProgramOutput other = bench({"show", "tiny", "--against", "elsewhere.json"});
  EXPECT_EQ(other.end.exit_code, 0);
  EXPECT_TRUE(contains(other.output, "not comparable: device is \"another CPU\" and ")) << other.output;
  EXPECT_TRUE(contains(other.output, "changed since: host: far away, now ")) << other.output;
  EXPECT_TRUE(contains(other.output, "changed since: compiler: CC 1.0, now ")) << other.output;
}

TEST_F(BenchVerb, SequencesOfOneLengthAreFull) {
  const runner::ProgramOutput output =
      bench({"tiny.toml", "--length", "16", "--rounds", "2", "--batches", "1", "--json", "--quiet"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const json facts = json::parse(output.output).at("cases").at(1).at("facts");
  EXPECT_EQ(facts.at("tokens"), 4 * 16);
  EXPECT_EQ(facts.at("longest"), 16);
}

TEST_F(BenchVerb, RejectsInvalidRequestsFirst) {
  expect_refused({"tiny.toml", "--precision", "float16"}, "float16");
  expect_refused({"tiny.toml", "--threads", "0"}, "--threads \"0\": expected a whole number of at least 1");
  expect_refused({"tiny.toml", "--threads", "1,,2"}, "has an empty part");
  expect_refused({"tiny.toml", "--batch-size", "8,8"}, "8 is given twice");
  expect_refused({"tiny.toml", "--length", "64"},
                 "--length 64 is greater than data.max_length = 32; add -S data.max_length=64");
  expect_refused({"tiny.toml", "--backend", "opnmp"}, "unknown backend \"opnmp\"; did you mean \"openmp\"?");
  expect_refused({"tiny.toml", "--rounds", "1"}, "gives no interval");
  expect_refused({"tiny.toml", "--threshold", "5"}, "expected a share between 0 and 1, such as 5% or 0.05");
  expect_refused({"tiny.toml", "--batchsize", "8"},
                 "unknown option --batchsize; did you mean \"--batch-size\"?");
  expect_refused({"--svg", "x.svg"}, "--svg measures a training step; name an experiment file");
  expect_refused({"--batch-size", "8"}, "--batch-size measures a training step; name an experiment file");
  expect_refused({"--length", "8"}, "--length measures a training step; name an experiment file");
  expect_refused({"--precision", "float16"}, "--precision measures a training step; name an experiment file");
  expect_refused({"-S", "train.batch_size=8"}, "--set measures a training step; name an experiment file");
  expect_refused({"--against", "x"}, "--against measures a training step; name an experiment file");
  expect_refused({"--order-cost"}, "--order-cost measures a training step; name an experiment file");
  expect_refused({"tiny.toml", "--svg", "absent/x.svg"}, "--svg absent/x.svg: there is no folder ");
  expect_refused({"tiny.toml", "--threads", "513"}, "--threads 513 is too many; Kokkos has room for 512");
  expect_refused({"tiny.toml", "--against", "absent.json"}, "cannot read absent.json");
  expect_refused({"tiny.toml", "--against", "absent"},
                 "there is no database encore.db yet, and so no measurement; ");
  sandbox_.write("broken.json", "{\"format\": 1,");
  expect_refused({"tiny.toml", "--against", "broken.json"},
                 "broken.json is not a result of exp bench --json: it is not JSON from byte 14 of 13");
  sandbox_.write("list.json", "[]");
  expect_refused({"tiny.toml", "--against", "list.json"},
                 "list.json is not a result of exp bench --json: it has no \"format\"");
  expect_refused({"show"}, "the name of a measurement");
  expect_refused({"tiny.toml", "-S", "model.layer.attention.heads=3"}, "heads");
  sandbox_.write("grid.toml", "base = \"tiny.toml\"\n[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  expect_refused({"grid.toml"}, "is a sweep of 2 different experiments, but bench measures one");
}

TEST_F(BenchVerb, CountsTheRowsOfSourceAndTargetOfADecoder) {
  write_translated_days(sandbox_);
  sandbox_.write("days.toml", testing::translating_experiment({}));
  expect_refused({"days.toml", "--length", "8"}, "--length cuts sequences of one text, but a model with");
  expect_refused({"days.toml", "--order-cost"}, "--order-cost times sums over the rows of one text, but a");
  const runner::ProgramOutput output =
      bench({"days.toml", "--rounds", "2", "--batches", "2", "--threads", "1", "--json", "--quiet"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const json result = json::parse(output.output);
  const json& facts = result.at("cases").at(1).at("facts");
  EXPECT_EQ(facts.at("tokens"), facts.at("rows")) << "packed: no padding in either";
  // In this model a row of the source or the target is multiplied by equally many weights: a source row by a
  // block and by those of keys and values, a target row by a block and by those of queries and of the output.
  const double weights = 3 * 16 * 16 + 16 * 16 + 2 * 24 * 16 + 2 * 16 * 16;
  EXPECT_DOUBLE_EQ(facts.at("matmul_flops"), 2.0 * 3 * weights * facts.at("rows").get<double>());
  for (const json& kernel : result.at("summary").at("steps").at(0).at("kernels"))
    if (kernel.at("label") == "encore::layer_norm") {
      EXPECT_FALSE(kernel.contains("flops_per_second")) << kernel;
    }
}

TEST_F(BenchVerb, ReportsAMissingNameWithTheNearest) {
  ASSERT_EQ(bench({"--rounds", "2", "--name", "here", "--quiet"}).end.exit_code, 0);
  const runner::ProgramOutput output = bench({"tiny.toml", "--against", "hrere"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "there is no measurement \"hrere\"; did you mean \"here\"?"))
      << output.errors;
}

TEST_F(BenchVerb, ReportsABatchThatTheDataCannotFill) {
  const runner::ProgramOutput output = bench({"tiny.toml", "--batch-size", "64", "--rounds", "2"});
  EXPECT_EQ(output.end.exit_code, 1) << output.output;
  EXPECT_TRUE(contains(output.errors, "too few for one batch of 64; give a smaller --batch-size"))
      << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db")) << "nothing is stored";
}

TEST_F(BenchVerb, AConnectorOfKokkosToolsSeesAnOrdinaryRun) {
  sandbox_.set("KOKKOS_TOOLS_LIBS", LABEL_CONNECTOR);
  sandbox_.set("LABELS_FILE", (sandbox_.folder() / "labels.txt").string());
  const runner::ProgramOutput output = sandbox_.exp({"run", "tiny.toml"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const std::string labels = sandbox_.read("labels.txt");
  EXPECT_TRUE(contains(labels, "encore::layer_norm_of_sum_backward\n")) << labels;
  EXPECT_TRUE(contains(labels, "region encore::gemm ")) << labels;
  std::istringstream lines(labels);
  for (std::string label; std::getline(lines, label);)
    EXPECT_TRUE(label.starts_with("encore::") || label.starts_with("region encore::") ||
                label.starts_with("Kokkos::View::initialization [encore::"))
        << label;
}

}  // namespace
}  // namespace encore::system_test
