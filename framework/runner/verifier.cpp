// SPDX-License-Identifier: BSD-3-Clause
// Verifier: trains a run again and judges the result. Order of the file: checks that refuse before a worker
// starts; the worker, run once, or twice with a kill in between; the comparison and the verdict.
// cli/verify_verb.cpp calls it. The run's folder is only read, so that a verification cannot change what it
// verifies. Read verifier.hpp first.
#include "runner/verifier.hpp"

#include <signal.h>

#include <algorithm>
#include <limits>
#include <set>
#include <system_error>

#include "pretrained/content_hash.hpp"
#include "record/checkpoint.hpp"
#include "record/spool.hpp"
#include "record/thread_adaptation.hpp"
#include "record/weights_file.hpp"
#include "runner/drift.hpp"
#include "runner/record_comparison.hpp"
#include "runner/score_comparison.hpp"
#include "runner/spool_follower.hpp"
#include "runner/verification_folder.hpp"
#include "runner/worker_process.hpp"

namespace encore::runner {

namespace {

constexpr auto between_looks = std::chrono::milliseconds(100);
constexpr const char* worker_log = "worker.log";

std::string steps_text(const std::vector<store::CheckpointRow>& checkpoints) {
  std::string text;
  for (const store::CheckpointRow& checkpoint : checkpoints)
    text += (text.empty() ? "" : ", ") + std::to_string(checkpoint.step);
  return text;
}

/// Returns the checkpoints that are on disk, one per step. Of several records of a step the newest counts,
/// because it wrote the file last.
std::vector<store::CheckpointRow> checkpoints_on_disk(store::Store& store, std::int64_t run) {
  std::vector<store::CheckpointRow> kept;
  for (const store::CheckpointRow& checkpoint : store.read_checkpoints(run)) {
    if (!checkpoint.on_disk) continue;
    if (!kept.empty() && kept.back().step == checkpoint.step)
      kept.back() = checkpoint;
    else
      kept.push_back(checkpoint);
  }
  return kept;
}

const store::CheckpointRow& find_checkpoint(const store::RunRow& run,
                                            const std::vector<store::CheckpointRow>& kept,
                                            std::int64_t step) {
  const auto found = std::ranges::find(kept, step, &store::CheckpointRow::step);
  if (found == kept.end())
    throw Error("run " + run.name + " has no checkpoint of step " + std::to_string(step) +
                (kept.empty() ? "; it has no checkpoint" : "; it has those of steps " + steps_text(kept)));
  return *found;
}

/// Returns the step of the weights file of the run's folder. Returns nothing if there is no such file, if it
/// belongs to another run, or if no step has led to it, as in an imported run.
std::optional<std::int64_t> step_of_weights(const std::filesystem::path& folder, const store::RunRow& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / record::weights_file, ignored)) return std::nullopt;
  try {
    const record::WeightsFacts facts = record::WeightsFile(folder).facts();
    return facts.question == run.question && facts.step > 0 ? std::optional(facts.step) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // a damaged file: only what it would be compared for is lost
  }
}

/// Replaces a scope that is a whole block by the name of the tensor that differs, if parameters of exactly
/// that step can be compared.
void name_tensor(const std::vector<TensorDistance>& tensors, std::string& scope) {
  if (scope != "parameters" && !scope.starts_with("optimizer/")) return;
  std::string other;
  for (const TensorDistance& tensor : tensors) {
    if (tensor.different == 0) continue;
    if (tensor.name.starts_with(parameter_prefix)) {
      scope = tensor.name.substr(parameter_prefix.size());
      return;
    }
    if (other.empty()) other = tensor.name;
  }
  if (!other.empty()) scope = other;
}

}  // namespace

/// Passes everything on to the observer of the screen, and keeps what the verdict needs.
class Verifier::Watch final : public RunObserver {
 public:
  Watch(RunObserver& display, DigestComparison& comparison) : display_(display), comparison_(comparison) {}

  void happened(const record::Event& event) override {
    record::handle(
        event,
        [&](const record::Started& started) {
          environment = started.numeric_environment.value();
          threads = started.threads;
        },
        [&](const record::Digested& digest) { comparison_.take(digest); });
    display_.happened(event);
  }
  void defined(const Metric& metric) override { display_.defined(metric); }
  void stepped(std::int64_t step, double loss) override { display_.stepped(step, loss); }
  void noticed(const std::string& text) override { display_.noticed(text); }

  nlohmann::json environment;  ///< of the verifying worker
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> went_on_from;  ///< step of the checkpoint after the kill; 0: the beginning

 private:
  RunObserver& display_;
  DigestComparison& comparison_;
};

Verifier::Verifier(store::Store& store, VerificationTask task, const std::atomic<int>& stop_requests)
    : store_(store),
      task_(std::move(task)),
      stop_requests_(stop_requests),
      attempts_(store.read_attempts(task_.run.number)),
      checkpoints_(checkpoints_on_disk(store, task_.run.number)),
      weights_step_(step_of_weights(store.run_folder(task_.run.id), task_.run)),
      comparison_(store.read_digests(task_.run.number),
                  task_.from_checkpoint ? *task_.from_checkpoint + 1 : 0,
                  task_.steps.value_or(std::numeric_limits<std::int64_t>::max())) {
  const std::string name = "run " + task_.run.name;
  if (task_.run.state == store::RunState::running)
    throw Error(name + " is running in process " + std::to_string(task_.run.holder.pid) + " on " +
                task_.run.holder.host + "; verify it after it has ended");
  const std::vector<store::DigestRow> all = store.read_digests(task_.run.number);
  if (all.empty())
    throw Error(name + " (" + store::name_of(task_.run.state) +
                ") has no digests to compare with: it ended before its first step");
  if (task_.specification.question != task_.run.question)
    throw Error((store.run_folder(task_.run.id) / "specification.json").string() +
                " belongs to another experiment than " + name + "; was a folder copied here?");
  if (task_.from_checkpoint) find_checkpoint(task_.run, checkpoints_, *task_.from_checkpoint);
  if (comparison_.empty())
    throw Error(name + " has no digest " +
                (task_.from_checkpoint ? "after step " + std::to_string(*task_.from_checkpoint) : "") +
                (task_.from_checkpoint && task_.steps ? " " : "") +
                (task_.steps ? "up to step " + std::to_string(*task_.steps) : "") +
                "; it has digests of steps " + std::to_string(all.front().step) + " to " +
                std::to_string(all.back().step));
  if (task_.scores && task_.run.state != store::RunState::completed)
    throw Error(name + " is " + store::name_of(task_.run.state) +
                ", so it has no final scores to compare with");
  const std::int64_t first = task_.from_checkpoint.value_or(0) + 1;
  if (task_.kill_at && (*task_.kill_at < first || *task_.kill_at > last_step()))
    throw Error("invalid --kill-at " + std::to_string(*task_.kill_at) +
                ": expected one of the trained steps, " + std::to_string(first) + " to " +
                std::to_string(last_step()));
  require_data();
}

void Verifier::require_data() const {
  for (const auto& [role, file] : task_.specification.data) {
    const std::string what = file.path + " (" + role + " of run " + task_.run.name + ")";
    std::error_code ignored;
    if (!std::filesystem::exists(file.path, ignored))
      throw Error(what + " is missing; restore the file with SHA-256 " + file.sha256);
    if (pretrained::sha256_of_bytes_of_content(file.path) != file.sha256)
      throw Error(what + " has changed since the run was planned; restore the file with SHA-256 " +
                  file.sha256);
  }
}

VerificationOutcome Verifier::run(RunObserver& observer) {
  VerificationFolder folder(store_.run_folder(task_.run.id), task_.run.id, task_.keep);
  VerificationOutcome outcome;
  outcome.folder = folder.path();
  folder.fill(
      task_.specification, !task_.everything,
      task_.from_checkpoint ? &find_checkpoint(task_.run, checkpoints_, *task_.from_checkpoint) : nullptr);
  Watch watch(observer, comparison_);
  const double begin = world::now_seconds();
  try {
    End end = train(folder.path(), 1, task_.kill_at.has_value(), watch);
    if (end == End::killed) {
      const std::vector<record::CheckpointFile> left = record::list_checkpoints(folder.path());
      watch.went_on_from = left.empty() ? 0 : left.back().step;
      observer.happened(record::Logged{.text = "killed after step " + std::to_string(*task_.kill_at)});
      end = train(folder.path(), 2, false, watch);
    }
    outcome.interrupted = end == End::stopped;
    if (outcome.interrupted) return outcome;
    judge(folder.path(), watch, outcome.verification);
  } catch (...) {  // what is thrown names files in the folder
    folder.keep();
    throw;
  }
  outcome.verification.time = world::now_seconds();
  outcome.verification.details["seconds"] = outcome.verification.time - begin;
  return outcome;
}

Verifier::End Verifier::train(const std::filesystem::path& folder, int attempt, bool dies, Watch& watch) {
  const std::int64_t last = std::max<std::int64_t>(last_step(), 1);
  std::set<std::int64_t> save_at;
  for (const std::int64_t step : kept_steps())
    if (step <= last) save_at.insert(step);
  // A step before the kill, so that there is a checkpoint to resume from and work to lose.
  if (task_.kill_at && *task_.kill_at > 1) save_at.insert(*task_.kill_at - 1);
  std::string saves;
  for (const std::int64_t step : save_at) saves += (saves.empty() ? "" : ",") + std::to_string(step);

  std::vector<std::string> arguments = {"train", "--run-folder", folder.string(), "--attempt",
                                        std::to_string(attempt)};
  // The worker would otherwise continue to its conclusion, the score on the test set.
  if (!task_.scores) arguments.insert(arguments.end(), {"--stop-after", std::to_string(last)});
  if (!saves.empty()) arguments.insert(arguments.end(), {"--save-at", saves});
  if (dies) arguments.insert(arguments.end(), {"--die-after", std::to_string(*task_.kill_at)});
  if (task_.threads > 0) arguments.insert(arguments.end(), {"--threads", std::to_string(task_.threads)});
  if (task_.ranks > 1) arguments.insert(arguments.end(), {"--ranks", std::to_string(task_.ranks)});

  const auto seen_enough = [&] {
    const auto difference = comparison_.difference();
    if (!difference) return false;
    // Where the bits need not agree, how far they drift apart to the end is the answer.
    if (!compare_environments(watch.environment, difference->attempt).differences.empty()) return false;
    const auto step = distance_step(difference->step);
    return !step || std::filesystem::exists(folder / record::checkpoint_path(*step));
  };
  WorkerPlace place{.ranks = task_.ranks, .rank_launcher = task_.rank_launcher};
  if (task_.threads == 0)
    place.variables[record::thread_adaptation_variable] = record::name_of(record::ThreadAdaptation::threads);
  WorkerProcess worker(task_.worker, arguments, folder / worker_log, place);
  SpoolFollower follower(folder / record::spool_name(attempt), watch);
  std::optional<ProcessEnd> end;
  bool enough = false;
  while (!(end = worker.wait_for(between_looks))) {
    follower.poll();
    if (stop_requests_.load() == 0 && !enough && !seen_enough()) continue;
    enough = enough || stop_requests_.load() == 0;
    worker.kill();
  }
  follower.poll();
  if (enough) return End::over;
  if (stop_requests_.load() > 0) return End::stopped;
  if (dies && end->signal == SIGKILL) return End::killed;
  const std::optional<record::Ended>& last_word = follower.ended();
  if (last_word &&
      (last_word->ending == record::Ending::completed ||
       (last_word->ending == record::Ending::interrupted && last_word->step.value_or(0) >= last)))
    return End::over;
  throw Error("the verifying worker " +
              (last_word ? std::string(record::name_of(last_word->ending)) + ": " + last_word->reason
                         : "ended with " + end->text() + " without a final report") +
              "; its folder is kept, see " + (folder / worker_log).string());
}

std::set<std::int64_t> Verifier::kept_steps() const {
  std::set<std::int64_t> steps;
  for (const store::CheckpointRow& checkpoint : checkpoints_) steps.insert(checkpoint.step);
  if (weights_step_) steps.insert(*weights_step_);
  return steps;
}

std::optional<std::int64_t> Verifier::distance_step(std::int64_t difference) const {
  for (const std::int64_t step : kept_steps())
    if (step >= difference && step <= last_step() && step > task_.from_checkpoint.value_or(0)) return step;
  return std::nullopt;
}

Verifier::Environments Verifier::compare_environments(const nlohmann::json& verification,
                                                      int last_attempt) const {
  const int first_attempt =
      task_.from_checkpoint ? find_checkpoint(task_.run, checkpoints_, *task_.from_checkpoint).attempt : 1;
  Environments environments = {nlohmann::json(), nlohmann::json::array()};
  for (const store::AttemptRow& attempt : attempts_) {
    const bool contributed = attempt.first_step || attempt.ordinal == last_attempt;
    if (attempt.ordinal < first_attempt || attempt.ordinal > last_attempt || !contributed) continue;
    environments = {attempt.environment, differing_fields(attempt.environment, verification)};
    if (!environments.differences.empty()) break;
  }
  return environments;
}

void Verifier::judge(const std::filesystem::path& folder, const Watch& watch,
                     store::VerificationRow& verification) const {
  const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  nlohmann::json& details = verification.details;
  details["options"] = {{"steps", or_null(task_.steps)},
                        {"from_checkpoint", or_null(task_.from_checkpoint)},
                        {"kill_at", or_null(task_.kill_at)},
                        {"threads", or_null(watch.threads)},
                        {"backend", task_.specification.backend}};
  if (task_.ranks > 1) details["options"]["ranks"] = task_.ranks;
  if (watch.went_on_from) details["went_on_from"] = *watch.went_on_from;
  details["compared"] = {{"digests", comparison_.size()},
                         {"agreeing", comparison_.agreeing()},
                         {"first_step", first_step()},
                         {"last_step", last_step()}};
  details["environment"]["verification"] = watch.environment;

  // A worker may be stopped at the first difference: later digests were not reported and are not differences.
  auto difference = comparison_.difference();
  if (!difference) difference = comparison_.final_difference();
  const Environments environments =
      compare_environments(watch.environment, difference ? difference->attempt : attempts_.back().ordinal);
  details["environment"]["run"] = environments.run;
  details["environment"]["differences"] = environments.differences;
  if (!difference) {
    verification.outcome = "equal";
    if (task_.scores) compare_scores_of(folder, environments.differences, verification);
    if (task_.everything && verification.outcome == "equal")
      compare_record_of(folder, environments.differences, verification);
    return;
  }
  verification.outcome = environments.differences.empty() ? "different" : "not comparable";
  verification.first_step = difference->step;
  verification.scope = difference->scopes.front();
  details["difference"] = {{"step", difference->step},
                           {"scopes", difference->scopes},
                           {"run", difference->expected},
                           {"verification", difference->found}};
  describe_drift(folder, verification);
  if (verification.outcome != "not comparable") return;
  std::vector<RecordedScore> scores;
  for (const auto& [metric, run, again] : final_scores(store_, task_.run, folder))
    scores.push_back({metric.name, metric.is_fraction(), run, again});
  details["final_scores"] = to_json_object(scores);
}

void Verifier::compare_scores_of(const std::filesystem::path& folder, const nlohmann::json& differing_fields,
                                 store::VerificationRow& verification) const {
  const ScoreComparison scores =
      compare_scores(store_, task_.run.number, folder, task_.from_checkpoint.value_or(0));
  nlohmann::json& told = verification.details["scores"];
  told = {{"compared", scores.compared}, {"different", scores.different}};
  if (!scores.first) return;
  verification.outcome = differing_fields.empty() ? "different" : "not comparable";
  verification.first_step = scores.first->step;
  verification.scope = scores.first->metric;
  told["run"] = scores.first->run;
  told["verification"] =
      scores.first->verification ? nlohmann::json(*scores.first->verification) : nlohmann::json();
}

void Verifier::compare_record_of(const std::filesystem::path& folder, const nlohmann::json& differing_fields,
                                 store::VerificationRow& verification) const {
  const RecordComparison record = compare_record(store_, task_.run, store_.run_folder(task_.run.id), folder);
  nlohmann::json& compared = verification.details["record"];
  compared = {{"values", record.values},
              {"meanings", record.meanings},
              {"facts", record.facts},
              {"files", record.files},
              {"different", record.different}};
  if (!record.first) return;
  verification.outcome = differing_fields.empty() ? "different" : "not comparable";
  verification.first_step = record.first->step;
  verification.scope = record.first->what;
  compared["run"] = record.first->run;
  compared["verification"] = record.first->verification;
}

void Verifier::describe_drift(const std::filesystem::path& folder,
                              store::VerificationRow& verification) const {
  nlohmann::json& details = verification.details;
  const std::filesystem::path original = store_.run_folder(task_.run.id);
  std::vector<StepDrift> steps;
  try {
    for (const std::int64_t step : kept_steps()) {
      const std::string path = record::checkpoint_path(step);
      if (step <= task_.from_checkpoint.value_or(0) || !std::filesystem::exists(folder / path)) continue;
      const bool has_checkpoint =
          std::ranges::find(checkpoints_, step, &store::CheckpointRow::step) != checkpoints_.end();
      steps.push_back({step, has_checkpoint
                                 ? tensor_distances(original / path, folder / path)
                                 : weight_distances(original / record::weights_file, folder / path)});
    }
  } catch (const Error& error) {
    details["drift_unknown"] = error.what();
  }
  if (!distance_step(*verification.first_step))
    details["drift_unknown"] = "the run keeps neither a checkpoint nor weights of a step from " +
                               std::to_string(*verification.first_step) + " to " +
                               std::to_string(last_step()) + ", so only digests could be compared";
  details["drift"] = to_json_object(drift_of(
      steps, curve_drifts(loss_curves(store_, task_.run.number), loss_curves(folder), default_tolerance),
      default_tolerance));
  const auto there = std::ranges::find(steps, *verification.first_step, &StepDrift::step);
  if (there != steps.end()) name_tensor(there->tensors, verification.scope);
}

}  // namespace encore::runner
