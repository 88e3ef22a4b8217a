// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp quantize` with the real worker (worker/quantize_verb.cpp, infer/quantization.hpp): 8-bit weights
// beside a run's own, how they are measured, which verbs compute with them, and what is rejected. Which
// matrices are rounded may change; the verbs must compute with the file that was written.
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class QuantizeVerb : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    if (ENCORE_BACKEND_NAME != std::string("openmp")) GTEST_SKIP() << "8-bit integers are for the host";
    sandbox_.write("tiny.toml", tiny_experiment());
    output_of({"run", "tiny.toml"});
  }
  json quantized(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"quantize", "tiny", "--tolerance", "5", "--json"});
    return json::parse(output_of(options));
  }
  std::string failure(const std::vector<std::string>& arguments, int exit_code = 2) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, exit_code) << output.output;
    return output.errors;
  }
};

TEST_F(QuantizeVerb, ReportsScoresBeforeAndAfter) {
  const json answer = quantized();
  EXPECT_EQ(answer.at("run"), "tiny");
  EXPECT_EQ(answer.at("judged_by"), "loss");
  EXPECT_LT(answer.at("bytes"), answer.at("float_bytes"));
  for (const json& matrix : answer.at("matrices")) EXPECT_FALSE(matrix.at("kept").get<bool>());
  const json& f1 = answer.at("sets").at("test").at("f1");
  EXPECT_LE(f1.at("difference").at("low"), f1.at("difference").at("high"));

  // Its numbers for the test set are those of `evaluate`, with 8-bit weights and without.
  const auto score = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"evaluate", "tiny", "test.conll", "--json"});
    return json::parse(output_of(options)).at("measures");
  };
  const json before = score({}), after = score({"--int8"});
  EXPECT_EQ(before.at("f1"), f1.at("before"));
  EXPECT_EQ(after.at("f1"), f1.at("after"));
  EXPECT_EQ(before.at("loss"), answer.at("sets").at("test").at("loss").at("before"));
  EXPECT_EQ(after.at("loss"), answer.at("sets").at("test").at("loss").at("after"));
  EXPECT_NE(before.at("loss"), after.at("loss"));

  const std::string text = output_of({"quantize", "tiny", "--tolerance", "5", "--keep", "head"});
  EXPECT_TRUE(contains(text, "tiny (step ")) << text;
  EXPECT_TRUE(contains(text, "kept     head.weight (--keep)\n")) << text;
  EXPECT_TRUE(contains(text, "test  F1")) << text;
  EXPECT_TRUE(contains(text, "next     ")) << text;
}

TEST_F(QuantizeVerb, EveryVerbThatAsksTheModelComputesWithThem) {
  quantized();
  const auto vector_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"embed", "tiny", "Anna lives in Lund", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    return json::parse(output_of(words)).at("vectors")[0].at("vector").get<std::vector<double>>();
  };
  const std::vector<double> exact = vector_of({}), rounded = vector_of({"--int8"});
  EXPECT_NE(exact, rounded);
  EXPECT_EQ(rounded, vector_of({"--int8", "--threads", "1"})) << "equal bits on any number of threads";
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(exact[i], rounded[i], 0.2);
  EXPECT_FALSE(output_of({"predict", "tiny", "--int8", "Anna lives in Lund"}).empty());

  const pid_t server = sandbox_.start({"serve", "tiny", "--int8", "--port", "0"}, "serve.txt");
  sandbox_.wait_for_text("serve.txt", "serving ");
  ::kill(server, SIGTERM);
  EXPECT_EQ(Sandbox::wait(server).value_or(runner::ProcessEnd{.exit_code = 1}).exit_code, 0)
      << sandbox_.read("serve.txt");
}

TEST_F(QuantizeVerb, WritesFourBitsBesideEightBits) {
  const json eight = quantized(), four = quantized({"--bits", "4"});
  EXPECT_LT(four.at("bytes"), eight.at("bytes"));
  EXPECT_EQ(four.at("bits"), 4);
  for (const json& matrix : four.at("matrices")) EXPECT_EQ(matrix.at("bits"), 4);
  const auto loss = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"evaluate", "tiny", "test.conll", "--json"});
    return json::parse(output_of(options)).at("measures").at("loss");
  };
  EXPECT_EQ(loss({"--int4"}), four.at("sets").at("test").at("loss").at("after"));
  EXPECT_EQ(loss({"--int8"}), eight.at("sets").at("test").at("loss").at("after"));
  EXPECT_EQ(loss({"--int4", "--threads", "1"}), loss({"--int4", "--threads", "2"}));
  const std::string text = output_of({"quantize", "tiny", "--bits", "4", "--tolerance", "5"});
  EXPECT_TRUE(contains(text, " matrices as 4-bit integers, ") && contains(text, " predict tiny --int4 "))
      << text;
  EXPECT_TRUE(contains(failure({"predict", "tiny", "--int4", "--int8", "Anna"}),
                       "--int8 and --int4 exclude each other"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--bits", "5"}), "invalid --bits 5: expected 8 or 4"));
}

TEST_F(QuantizeVerb, AFileOfInputsReplacesTheDevelopmentSet) {
  sandbox_.write("lines.txt", "Anna lives in Lund\n\nBerg lives\n");
  const json answer = quantized({"--texts", "lines.txt"});
  EXPECT_EQ(answer.at("judged_by"), "vectors");
  EXPECT_EQ(answer.at("sample"), 2);
  const std::string text = output_of({"quantize", "tiny", "--texts", "lines.txt", "--tolerance", "1"});
  EXPECT_TRUE(contains(text, "vectors  of 2 inputs have moved by at most ")) << text;
}

TEST_F(QuantizeVerb, ExitsWithOneIfARunBeforeTheFailureWasWritten) {
  sandbox_.write("other.conll", sandbox_.read("dev.conll"));
  output_of({"run", "tiny.toml", "-S", "name=other", "-S", "seed=2", "-S", "data.dev=other.conll"});
  sandbox_.write("other.conll", sandbox_.read("other.conll") + "\n");
  EXPECT_TRUE(contains(failure({"quantize", "other", "--tolerance", "5"}), "other.conll"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "other", "--tolerance", "5"}, 1), "other.conll"));
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs" /
                                      sandbox_.one("SELECT id FROM run WHERE name = 'tiny'") /
                                      "weights_int8.safetensors"));
}

TEST_F(QuantizeVerb, RefusesWithTheReason) {
  EXPECT_TRUE(contains(failure({"predict", "tiny", "--int8", "Anna"}, 1),
                       "weights_int8.safetensors is missing; exp quantize writes it again"));
  EXPECT_TRUE(contains(failure({"predict", "tiny", "--int4", "Anna"}, 1),
                       "weights_int4.safetensors is missing; exp quantize --bits 4 writes it again"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--tolerance", "-1"}),
                       "invalid --tolerance -1: expected 0 to 10"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--examples", "0"}),
                       "invalid --examples 0: expected at least 1"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--keep", "nothing"}),
                       "--keep nothing names no matrix that could become integers; there are "));
  sandbox_.write("empty.txt", "\n  \n");
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--texts", "empty.txt"}), "empty.txt holds no text"));
  EXPECT_TRUE(contains(failure({"quantize", "tiny", "--texts", "absent.txt"}), "absent.txt"));

  quantized();
  sandbox_.write("dev.conll", sandbox_.read("dev.conll") + "\n");
  EXPECT_TRUE(contains(failure({"quantize", "tiny"}), "dev.conll")) << "another set than the planned one";
}

}  // namespace
}  // namespace encore::system_test
