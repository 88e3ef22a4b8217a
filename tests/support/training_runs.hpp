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
class Recorder final : public Observer {
 public:
  void measures(std::span<const Measure>) override {}
  void happened(const Event& event) override {
    handle(
        event, [&](const Logged& line) { logs.push_back(line.text); },
        [&](const Evaluated& scores) {
          for (const MeasuredValue& measure : scores.measures)
            values[measure.name][scores.step] = measure.value;
        },
        [&](const Digested& digest) {
          digests[{digest.step, digest.scope}] = digest.sha256;
        },
        [&](const Saved& saved) {
          checkpoints.push_back(saved);
          EXPECT_EQ(safe_steps, steps.size())
              << "the checkpoint of step " << saved.step << " got its name before";
        },
        [&](const Wrote& file) { files.push_back(file.name); },
        [&](const Concluded& conclusion) {
          best_step = conclusion.best_step;
          for (const MeasuredValue& measure : conclusion.measures) result[measure.name] = measure.value;
        },
        [&](const Ended& ended) {
          ending = ended.ending;
          reason = ended.reason;
        });
  }
  void resumed(const Resumption& resumption) override { resumptions.push_back(resumption); }
  void stepped(const StepReport& report) override { steps.push_back(report); }
  void scoring(Split split, const EvaluationProgress& progress) override {
    scored[split].push_back(progress);
  }
  void saving() override {
    safe_steps = steps.size();
    if (disk_full) throw RecordError("no space");
  }

  std::vector<std::string> logs, files, notes;
  std::size_t safe_steps = 0;  ///< reported steps when the last checkpoint was about to get its name
  bool disk_full = false;
  std::vector<Resumption> resumptions;
  std::vector<StepReport> steps;
  std::map<Split, std::vector<EvaluationProgress>> scored;
  std::map<std::string, std::map<std::int64_t, double>> values;
  std::map<std::pair<std::int64_t, std::string>, std::string> digests;
  std::vector<Saved> checkpoints;
  std::map<std::string, double> result;
  std::int64_t best_step = 0;
  Ending ending = Ending::failed;
  std::string reason;
};

class ScriptedControl final : public Control {
 public:
  /// Asks to stop after `stop_after` steps of this attempt; 0 means never.
  explicit ScriptedControl(int stop_after = 0) : left_(stop_after) {}
  Request poll() override { return left_ > 0 && --left_ == 0 ? Request::stop : Request::none; }
  std::string why_not_owner() override { return owner ? "" : "another attempt has taken over"; }
  bool owner = true;

 private:
  int left_;
};

/// Trains one attempt in this run folder, which resumes from the newest checkpoint there. `packs_ahead` says
/// whether the next batch is packed during a step, as on a GPU; null lets the device decide. `between_steps`
/// is called as TrainerParts says (train/trainer_parts.hpp), with the run's device.
inline Recorder run_attempt(const std::filesystem::path& folder, const Specification& specification,
                            ScriptedControl control = ScriptedControl(),
                            const TokenCache& cache = TokenCache{std::filesystem::path()},
                            const Milestones& milestones = {}, const bool* packs_ahead = nullptr,
                            const std::function<void(const Device&)>& between_steps = {}) {
  Recorder recorder;
  std::filesystem::create_directories(folder);
  specification.save(folder);
  const Device device;
  Session session(specification, folder, 1, device, cache);
  for (const std::string& note : session.sets().notes()) recorder.notes.push_back(note);
  TrainerParts parts = session.parts(recorder, control, milestones);
  if (packs_ahead != nullptr) parts.packs_ahead = *packs_ahead;
  if (between_steps) parts.between_steps = [&] { between_steps(device); };
  Trainer(parts).run();
  return recorder;
}

}  // namespace encore::testing
