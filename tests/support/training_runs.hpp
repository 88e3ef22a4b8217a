// SPDX-License-Identifier: BSD-3-Clause
// Runs small experiments within the test's process, keeps their events, and can ask them to stop.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/tiny_run.hpp"
#include "train/session.hpp"
#include "train/trainer.hpp"

namespace encore::testing {

/// Keeps every event of a run.
class Recorder final : public train::Observer {
 public:
  void measures(std::span<const Measure>) override {}
  void happened(const record::Event& event) override {
    record::handle(
        event, [&](const record::Logged& line) { logs.push_back(line.text); },
        [&](const record::Evaluated& scores) {
          for (const record::MeasuredValue& measure : scores.measures)
            values[measure.name][scores.step] = measure.value;
        },
        [&](const record::Digested& digest) {
          digests[{digest.step, digest.scope}] = digest.sha256;
        },
        [&](const record::Saved& saved) {
          checkpoints.push_back(saved);
          EXPECT_EQ(safe_steps, steps.size())
              << "the checkpoint of step " << saved.step << " got its name before";
        },
        [&](const record::Wrote& file) { files.push_back(file.name); },
        [&](const record::Concluded& conclusion) {
          best_step = conclusion.best_step;
          for (const record::MeasuredValue& measure : conclusion.measures) result[measure.name] = measure.value;
        },
        [&](const record::Ended& ended) {
          ending = ended.ending;
          reason = ended.reason;
        });
  }
  void resumed(const train::Resumption& resumption) override { resumptions.push_back(resumption); }
  void stepped(const train::StepReport& report) override { steps.push_back(report); }
  void scoring(data::Split split, const infer::EvaluationProgress& progress) override {
    scored[split].push_back(progress);
  }
  void saving() override {
    safe_steps = steps.size();
    if (disk_full) throw train::RecordError("no space");
  }

  std::vector<std::string> logs, files, notes;
  std::size_t safe_steps = 0;  ///< reported steps when the last checkpoint was about to get its name
  bool disk_full = false;
  std::vector<train::Resumption> resumptions;
  std::vector<train::StepReport> steps;
  std::map<data::Split, std::vector<infer::EvaluationProgress>> scored;
  std::map<std::string, std::map<std::int64_t, double>> values;
  std::map<std::pair<std::int64_t, std::string>, std::string> digests;
  std::vector<record::Saved> checkpoints;
  std::map<std::string, double> result;
  std::int64_t best_step = 0;
  record::Ending ending = record::Ending::failed;
  std::string reason;
};

class ScriptedControl final : public train::Control {
 public:
  /// Stops after this many steps of this attempt; 0: never.
  explicit ScriptedControl(int stop_after = 0) : left_(stop_after) {}
  train::Request poll() override { return left_ > 0 && --left_ == 0 ? train::Request::stop : train::Request::none; }
  std::string why_not_owner() override { return owner ? "" : "another attempt has taken over"; }
  bool owner = true;

 private:
  int left_;
};

/// One attempt in this run folder. packs_ahead: as on a GPU; null: the device decides. between_steps: as in
/// TrainerParts, with the run's device.
inline Recorder run_attempt(const std::filesystem::path& folder, const record::Specification& specification,
                            ScriptedControl control = ScriptedControl(),
                            const tasks::TokenCache& cache = tasks::TokenCache{std::filesystem::path()},
                            const train::Milestones& milestones = {}, const bool* packs_ahead = nullptr,
                            const std::function<void(const Device&)>& between_steps = {}) {
  Recorder recorder;
  std::filesystem::create_directories(folder);
  specification.save(folder);
  const Device device;
  train::Session session(specification, folder, 1, device, cache);
  for (const std::string& note : session.sets().notes()) recorder.notes.push_back(note);
  train::TrainerParts parts = session.parts(recorder, control, milestones);
  if (packs_ahead != nullptr) parts.packs_ahead = *packs_ahead;
  if (between_steps) parts.between_steps = [&] { between_steps(device); };
  train::Trainer(parts).run();
  return recorder;
}

}  // namespace encore::testing
