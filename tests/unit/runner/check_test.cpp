// SPDX-License-Identifier: BSD-3-Clause
// Tests check_with_worker() (runner/check.hpp), which asks a worker for errors that no schema can find: each
// problem must have the place of its option in the file and appear once. A script replaces the worker.
#include "runner/check.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include <nlohmann/json.hpp>

namespace encore::runner {
namespace {

class CheckTest : public ::testing::Test {
 protected:
  CheckTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-check-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    record::Specification specification;
    specification.origin["model.layer.attention.heads"] = {config::Source::file, {"a.toml", 14, 3}};
    specification.config = {{"task", {{"type", "ner"}}},       {"data", {{"max_length", 8}}},
                            {"tokenizer", {{"type", "word"}}}, {"model", {{"width", 8}}},
                            {"optimizer", {{"type", "adam"}}}, {"schedule", {{"type", "constant"}}},
                            {"train", {{"epochs", 1}}}};
    specifications_ = {specification, specification};
    specifications_[1].config["model"]["width"] = 16;
    asked_ = {specifications_.data(), &specifications_[1]};
  }
  ~CheckTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path worker(const std::string& script) {
    const std::filesystem::path file = folder_ / "worker";
    std::ofstream(file) << "#!/bin/sh\ncat > /dev/null\n" << script << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  std::string complaint(const std::string& script) {
    try {
      check_with_worker(worker(script), asked_);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path folder_;
  std::vector<record::Specification> specifications_;
  std::vector<const record::Specification*> asked_;
};

TEST_F(CheckTest, AnEmptyAnswerMeansNoProblem) {
  EXPECT_TRUE(check_with_worker(worker("echo '[]'"), asked_).empty());
}

TEST_F(CheckTest, ProblemsHaveThePlaceOfTheirOptionAndAreSaidOnce) {
  const auto problems = check_with_worker(
      worker(
          R"(echo '[{"index":0,"key":"model.layer.attention.heads","message":"no"},)"
          R"({"index":1,"key":"model.layer.attention.heads","message":"no"},)"
          R"({"index":1,"key":"train.unknown","message":"odd"},{"index":0,"key":"","message":"bad data"}]'; exit 2)"),
      asked_);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].text(), "a.toml:14:3: no");
  EXPECT_EQ(problems[1].text(), "train.unknown: odd");
  EXPECT_EQ(problems[2].text(), "bad data");
}

TEST_F(CheckTest, AWorkerThatCannotAnswerIsNamed) {
  EXPECT_NE(complaint("echo broken >&2; exit 1").find("check ended with exit code 1 and no answer:\nbroken"),
            std::string::npos);
  EXPECT_NE(complaint("kill -9 $$").find("signal 9 (Killed)"), std::string::npos);
  EXPECT_NE(complaint("echo '[]'; exit 2").find("exit code 2"), std::string::npos);
  EXPECT_NE(complaint(R"(echo '[{"index":7,"key":"","message":"x"}]'; exit 2)").find("about an unknown run"),
            std::string::npos);
}

}  // namespace
}  // namespace encore::runner
