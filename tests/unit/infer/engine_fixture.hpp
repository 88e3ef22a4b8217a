// SPDX-License-Identifier: BSD-3-Clause
// EngineTest: a fixture that trains a tiny NER run into a folder and loads engines from it. The tests of
// Engine, integer weights, observed facts and allocations in this folder build on it; they call train(), may
// damage the run's files, then call engine() or refusal(). The models and data are those of
// support/tiny_run.hpp.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "base/load_file.hpp"
#include "infer/engine.hpp"
#include "record/weights_file.hpp"
#include "support/tiny_model.hpp"
#include "support/tiny_run.hpp"
#include "train/session.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {

namespace fs = std::filesystem;

/// Keeps what a training reports: its scores, its best step and the SHA-256 of its files.
class Answer final : public train::Observer {
 public:
  void measures(std::span<const Measure>) override {}
  void happened(const record::Event& event) override {
    record::handle(
        event, [&](const record::Wrote& file) { files[file.path] = file.sha256; },
        [&](const record::Concluded& conclusion) {
          best_step = conclusion.best_step;
          for (const record::MeasuredValue& measure : conclusion.measures)
            values[measure.name] = measure.value;
        });
  }
  void resumed(const train::Resumption&) override {}
  void stepped(const train::StepReport&) override {}
  void scoring(data::Split, const infer::EvaluationProgress&) override {}
  void saving() override {}

  std::map<std::string, std::string> files;
  std::map<std::string, double> values;
  std::int64_t best_step = 0;
};

/// A control without requests; `stop_after` polls, if not 0, it asks the training to stop.
class NobodyAsks final : public train::Control {
 public:
  explicit NobodyAsks(int stop_after = 0) : left_(stop_after) {}
  train::Request poll() override {
    return left_ > 0 && --left_ == 0 ? train::Request::stop : train::Request::none;
  }
  std::string why_not_owner() override { return ""; }

 private:
  int left_;
};

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_corpora(folder_.path());
    fs::create_directory(run_);
  }

  /// Trains the run with these overrides (KEY=VALUE) and returns what it reported.
  Answer train(const std::vector<std::string>& overrides = {}, int stop_after = 0) {
    Answer answer;
    NobodyAsks control(stop_after);
    const record::Specification specification = testing::tiny_specification(folder_.path(), overrides);
    specification.save(run_);
    train::Session session(specification, run_, 1, device_, tasks::TokenCache{fs::path()});
    train::Trainer(session.parts(answer, control)).run();
    return answer;
  }
  /// Loads an engine from the run's folder.
  infer::Engine engine(infer::Weights weights = infer::Weights::chosen) const {
    return {run_, record::Specification::load(run_).plugin_folders, device_, weights};
  }
  /// Returns the message with which loading fails.
  std::string refusal(infer::Weights weights = infer::Weights::chosen) const {
    return message_of<Error>([&] { engine(weights); });
  }
  infer::Evaluation score_test_set(infer::Engine& engine) const {
    return engine.run(engine.encode(
        tasks::read_set(engine.reader(), {(folder_ / "test.conll").string()}, "test set").records));
  }
  std::string file(const char* name) const { return (run_ / name).string(); }
  /// Flips a bit of the last byte of the file.
  void damage(const fs::path& path) const {
    std::string bytes = read_bytes(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_bytes(path, bytes);
  }

  TemporaryFolder folder_;
  const fs::path run_ = folder_ / "run";
  const Device device_;
};

}  // namespace encore::testing
