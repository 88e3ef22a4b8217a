// SPDX-License-Identifier: BSD-3-Clause
// run_attempt(): trains one attempt of a small run within the process of the test, keeps its events in a
// Recorder, and can stop it after a number of steps (ScriptedControl). Tests of training use it (unit/train,
// seams). Every stop is a normal one, as by Ctrl-C; system/survival kills real workers.
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

/// Keeps every event of a run, and the steps, resumptions and notes.
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
          for (const record::MeasuredValue& measure : conclusion.measures)
            result[measure.name] = measure.value;
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
  /// Asks to stop after `stop_after` steps of this attempt; 0 means never.
  explicit ScriptedControl(int stop_after = 0) : left_(stop_after) {}
  train::Request poll() override {
    return left_ > 0 && --left_ == 0 ? train::Request::stop : train::Request::none;
  }
  std::string why_not_owner() override { return owner ? "" : "another attempt has taken over"; }
  bool owner = true;

 private:
  int left_;
};

/// Trains one attempt in this run folder, which resumes from the newest checkpoint there. `packs_ahead` says
/// whether the next batch is packed during a step, as on a GPU; null lets the device decide. `between_steps`
/// is called as TrainerParts says (train/trainer_parts.hpp), with the run's device.
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
