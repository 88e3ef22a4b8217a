// report, from outside: what it writes, that it writes the same again, and what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two seeds of two dropouts; shared by all tests of this file: a report changes nothing.
class ReportVerb : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = new Sandbox;
    std::string sweep = tiny_experiment("pair");
    sweep.replace(sweep.find("seed = 1"), 8, "seeds = [1, 2]");
    sandbox_->write("pair.toml", sweep + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
    const ProgramOutput output = sandbox_->exp({"run", "pair.toml"});
    ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  }
  static void TearDownTestSuite() { delete sandbox_; }

  static std::string output_of(const std::vector<std::string>& arguments) {
    const ProgramOutput output = sandbox_->exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    EXPECT_EQ(output.errors, "");
    return output.output;
  }
  static void expect_refused(const std::vector<std::string>& arguments, const std::string& message) {
    const ProgramOutput output = sandbox_->exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  }

  static Sandbox* sandbox_;
};
Sandbox* ReportVerb::sandbox_ = nullptr;

TEST_F(ReportVerb, WritesAFileOrToTheStandardOutputAndTheSameBytesAgain) {
  EXPECT_EQ(output_of({"report", "pair", "-o", "made/report.json"}),
            "Report of sweep pair (4 of 4 complete) written to made/report.json\n");
  const std::string file = sandbox_->read("made/report.json");
  EXPECT_EQ(output_of({"report", "pair", "--format", "json"}), file);
  EXPECT_EQ(output_of({"report", "--format", "json"}), output_of({"report", "all", "--format", "json"}));
  const nlohmann::json report = nlohmann::json::parse(file);
  EXPECT_EQ(report.at("title"), "Report of sweep pair");
  EXPECT_EQ(report.at("sections").at(0).at("id"), "results");
  EXPECT_TRUE(contains(file, "exp run pair.toml --backend openmp"));
  EXPECT_TRUE(contains(file, "model.dropout"));
}

TEST_F(ReportVerb, OfOneRunOfAnotherMetricAndAgainstOthers) {
  EXPECT_TRUE(contains(output_of({"report", "pair-dropout=0.1-seed=1", "--format", "json"}),
                       "\"title\": \"Report of run pair-dropout=0.1-seed=1\""));
  EXPECT_TRUE(contains(output_of({"report", "pair", "--metric", "dev/f1", "--format", "json"}),
                       "\"id\": \"results-dev-f1\""));
  const std::string against =
      output_of({"report", "pair-dropout=0.2", "--against", "pair-dropout=0.1", "--format", "json"});
  EXPECT_TRUE(contains(against, "\"id\": \"against-result\""));
  EXPECT_TRUE(contains(against, "pair-dropout=0.1 \xE2\x86\x92 pair-dropout=0.2")) << "arrow";
}

TEST_F(ReportVerb, Refuses) {
  expect_refused({"report", "pair"}, "exp report needs -o with a file to write");
  expect_refused({"report", "pair", "-o", "report.txt"}, "the name \"report.txt\" says no format");
  expect_refused({"report", "pair", "-o", "r.json", "--format", "jsn"}, "did you mean \"json\"?");
  expect_refused({"report", "pari", "-o", "r.json"}, "did you mean \"pair\"?");
  expect_refused({"report", "pair", "-o", "r.json", "--metric", "test/f2"}, "did you mean \"test/f1\"?");
  expect_refused({"report", "pair", "-o", "r.json", "--metric", ""}, "--metric is empty");
  expect_refused({"report", "pair", "-o", "r.json", "--template", "x"},
                 "--template is for formats that people read");
  expect_refused({"report", "pair", "-o", "r.json", "--against", "2001-01-01"},
                 "none of these runs was finished before 2001-01-01 (UTC)");
}

}  // namespace
}  // namespace encore::system_test
