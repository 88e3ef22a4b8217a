// SPDX-License-Identifier: BSD-3-Clause
// The program fake-worker, "the scripted worker": a worker that computes no model, so that tests of the
// control program take milliseconds. It writes the spool, the checkpoints and the exit codes of encore-worker
// (worker/train_verb.cpp, which it must follow), and its "parameters" are a hash chain over the steps, so
// that a lost or doubled step changes every later digest. `exp` starts it in a Sandbox (sandbox.hpp). Tests
// depend on the names below; a new one may be added. Variables of the environment script it. FAKE_STEP_MS,
// FAKE_STEPS, FAKE_SIGNAL and FAKE_CRASH_ATTEMPTS are shown with their defaults, the others with examples:
//   FAKE_FINGERPRINT=...       the fingerprint that it reports of its build
//   FAKE_STEP_MS=5             time of a step               FAKE_STEPS=20      steps of a run, 5 to an epoch
//   FAKE_DEVICE=...            the device that it reports in its numeric environment
//   FAKE_CHANGE_AT=7           other bits from this step on
//   FAKE_CRASH_AT=7            kill itself there ...        FAKE_SIGNAL=9      ... with this signal
//   FAKE_CRASH_ATTEMPTS=1      ... in the first N attempts  FAKE_FAIL_AT=7     the loss is not finite there
//   FAKE_CRASH_ONLY=text       only in runs whose name contains text; FAKE_FAIL_ONLY alike
//   FAKE_WEIGHTS=1             concludes with a weights file, for runs that start from this one
//   FAKE_SURFACE=1             dev/f1 and test/f1 follow from learning rate, dropout and epoch, plus noise by
//                              the seed, for searches
//   FAKE_UNDEFINED_BELOW=0.25  in the final result dev/f1 is 1 and undefined on dev with a lower dropout
//   FAKE_CHECK=key:message     what `check` finds
//   FAKE_STUBBORN=1            ignores requests to stop, and that the process that started it is gone
//   PAUSE_AT=7:FOLDER          waits in that step while FOLDER exists, and listens to requests
//   (support/pause.hpp), with PAUSE_ONLY=text only in runs whose name contains text
//   FAKE_HOLD_CHECK=FIFO       `check` waits until a process writes to the FIFO or closes it (fifo.hpp)
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include <encore/error.hpp>

#include "base/sha256.hpp"
#include "config/catalogue.hpp"
#include "config/experiment.hpp"
#include "config/fingerprint.hpp"
#include "record/check_request.hpp"
#include "record/checkpoint.hpp"
#include "record/control_pipe.hpp"
#include "record/run_paths.hpp"
#include "record/specification.hpp"
#include "record/spool.hpp"
#include "record/weights_file.hpp"
#include "support/pause.hpp"
#include "support/raw_event.hpp"

namespace {

using namespace encore;

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

std::string text_setting(const char* name, std::string_view otherwise) {
  const char* text = std::getenv(name);
  return std::string(text == nullptr ? otherwise : text);
}

/// Waits until a process writes to the FIFO, or opens and closes it.
void wait_at(const std::string& fifo) {
  if (!fifo.empty()) std::ifstream(fifo).get();
}

/// Returns the plugin files that the real worker would load.
nlohmann::json plugins_of(const record::Specification& specification) {
  const config::Catalogue catalogue = config::Catalogue::load(
      {specification.plugin_folders.begin(), specification.plugin_folders.end()}, config::host_fingerprint());
  std::map<std::string, nlohmann::json> plugins;
  for (const config::TypeName& type :
       config::needed_types(config::make_experiment(specification.config, catalogue, specification.origin))) {
    const config::Manifest& owner = *catalogue.owner(type.kind, type.name);
    plugins[owner.name] = {{"name", owner.name},
                           {"version", owner.version},
                           {"sha256", sha256_of_file(owner.library_path())},
                           {"fingerprint", owner.fingerprint}};
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, plugin] : plugins) list.push_back(plugin);
  return list;
}

/// One round of splitmix64, which stands for a training step here.
std::uint64_t trained(std::uint64_t state, std::int64_t step) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(step);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Returns the cores and threads on which the control program placed this process.
nlohmann::json place(int threads) {
  nlohmann::json cores = nlohmann::json::array();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  return {{"cores", cores},
          {"threads", threads},
          {"omp_threads", setting("OMP_NUM_THREADS", 0)},
          {"devices", text_setting("CUDA_VISIBLE_DEVICES", "none")}};
}

class FakeRun {
 public:
  FakeRun(const std::filesystem::path& folder, std::map<std::string, std::string>& options)
      : folder_(folder),
        attempt_(std::stoi(options["--attempt"])),
        threads_(options["--threads"].empty() ? 0 : std::stoi(options["--threads"])),
        spool_(folder / record::spool_name(attempt_), attempt_, record::run_of_folder(folder)),
        control_(std::stoi(options["--control-fd"])) {
    if (const std::string& step = options["--stop-after"]; !step.empty()) stop_after_ = std::stoll(step);
    if (const std::string& epoch = options["--stop-after-epoch"]; !epoch.empty())
      stop_after_epoch_ = std::stoll(epoch);
    if (const std::string& step = options["--pause-after-step"]; !step.empty())
      pause_after_step_ = std::stoll(step);
    if (const std::string& step = options["--die-after"]; !step.empty()) die_after_ = std::stoll(step);
    std::istringstream steps(options["--save-at"]);
    for (std::string step; std::getline(steps, step, ',');) save_at_.insert(std::stoll(step));
  }

  int train() {
    const record::Specification specification = record::Specification::load(folder_);
    name_ = specification.name;
    rate_ = specification.config.at("optimizer").value("learning_rate", 1e-2);
    dropout_ = specification.config.at("model").value("dropout", 0.1);
    state_ = specification.seed;
    if (const auto from = specification.data.find(record::pretrained_role); from != specification.data.end())
      state_ = std::stoull(from->second.sha256.substr(0, 15), nullptr, 16);
    restore();
    nlohmann::json started = {{"parameters", 1}, {"threads", 1}, {"data", {{"train", {{"examples", 10}}}}}};
    started["numeric_environment"] = {{"backend", specification.backend},
                                      {"device", text_setting("FAKE_DEVICE", "fake")},
                                      {"precision", "float32"}};
    started["host"] = {{"name", "fakehost"}, {"cpus", 1}};
    started["build"] = {{"version", "0"},
                        {"fingerprint", text_setting("FAKE_FINGERPRINT", config::host_fingerprint())}};
    started["plugins"] = plugins_of(specification);
    started["place"] = place(threads_);
    testing::write_event(spool_, "started", started);
    std::cerr << "fake worker, attempt " << attempt_ << '\n';
    while (step_ < steps_) {
      if (stop_after_epoch_ > 0 && step_ % 5 == 0 && step_ / 5 >= stop_after_epoch_) return pause();
      if (pause_after_step_ > 0 && step_ >= pause_after_step_) {
        save("last");
        return pause();
      }
      bool stops = asked_to_stop();
      while (!stops && meant("PAUSE_ONLY") && pause_.holds(step_ + 1)) stops = asked_to_stop();
      if (stops) {
        save("last");
        return end("interrupted",
                   control_.parent_gone() ? "the exp that started it is gone" : "asked to stop", 75);
      }
      ++step_;
      if (!train_step())
        return end("failed", "step " + std::to_string(step_) + ": the loss is not finite", 1);
      if (step_ % 5 != 0 && save_at_.contains(step_)) save("last");
      if (step_ == die_after_) ::kill(::getpid(), SIGKILL);
      if (step_ % 5 == 0) end_epoch();
      if (stop_after_ > 0 && step_ >= stop_after_) return end("interrupted", "trained as far as asked", 75);
    }
    if (setting("FAKE_WEIGHTS", 0) != 0) write_weights();
    const double f1 = score();
    spool_.point("test/f1", step_, f1);
    testing::write_event(spool_, "measured", {{"step", step_}, {"measures", {{"test/f1", f1}}}});
    const bool undefined = dropout_ < std::stod(text_setting("FAKE_UNDEFINED_BELOW", "0"));
    nlohmann::json result = {
        {"best_step", step_},
        {"measures", {{"dev/f1", undefined ? 1.0 : f1}, {"test/f1", f1}, {"test/f1/PER", f1}}}};
    if (undefined) result["undefined"] = true;
    testing::write_event(spool_, "result", result);
    return end("completed", "", 0);
  }

 private:
  bool train_step() {
    std::this_thread::sleep_for(std::chrono::milliseconds(setting("FAKE_STEP_MS", 5)));
    if (step_ == setting("FAKE_FAIL_AT", -1) && meant("FAKE_FAIL_ONLY")) return false;
    if (step_ == setting("FAKE_CRASH_AT", -1) && attempt_ <= setting("FAKE_CRASH_ATTEMPTS", 1) &&
        meant("FAKE_CRASH_ONLY")) {
      spool_.flush();
      std::cerr << "fake worker: about to crash\n";
      ::kill(::getpid(), setting("FAKE_SIGNAL", SIGKILL));
    }
    state_ = trained(state_, step_);
    if (step_ == setting("FAKE_CHANGE_AT", -1)) state_ ^= 1;
    spool_.point("train/loss", step_, 1.0 / static_cast<double>(step_));
    testing::write_event(spool_, "progress",
                         {{"step", step_},
                          {"total_steps", steps_},
                          {"epoch", (step_ + 4) / 5},
                          {"loss", 1.0 / static_cast<double>(step_)},
                          {"learning_rate", 1e-3},
                          {"tokens_per_second", 1234.0},
                          {"eta_seconds", 1.0}});
    return true;
  }

  /// Whether a variable that limits a fault to some runs applies to this run.
  bool meant(const char* variable) const {
    return name_.find(text_setting(variable, "")) != std::string::npos;
  }

  void end_epoch() {
    spool_.point("dev/f1", step_, score());
    testing::write_event(
        spool_, "measured",
        {{"step", step_}, {"epoch", step_ / 5}, {"measures", {{"dev/f1", score()}, {"dev/loss", 0.5}}}});
    char digest[65];
    std::snprintf(digest, sizeof digest, "%064llx", static_cast<unsigned long long>(state_));
    nlohmann::json event = {{"step", step_}, {"scope", "parameters"}, {"value", digest}};
    if (step_ == 5) event["tensors"] = {{"fixed", "00"}, {"x", std::string(digest).substr(48)}};
    testing::write_event(spool_, "digest", event);
    save("best");
  }

  double score() const {
    const double noise = static_cast<double>(state_ % 1000) / 1e4;
    if (setting("FAKE_SURFACE", 0) == 0) return 0.5 + noise;
    const double distance = std::abs(std::log10(rate_) + 2.0) + std::abs(dropout_ - 0.2);
    return 0.9 - 0.2 * distance - 0.1 / static_cast<double>(1 + step_ / 5) + 0.01 * noise;
  }

  void save(const char* kind) {
    const float value = 1.0f + static_cast<float>(state_ % 1024) * 0x1p-23f;  // that number of ulps from 1
    const record::SavedFile saved = record::save_checkpoint(
        folder_, step_, {{"parameter/x", DType::float32, {1}, std::as_bytes(std::span(&value, 1))}},
        {{"state", std::to_string(state_)}, {"step", std::to_string(step_)}}, [&] { spool_.sync(); });
    testing::write_event(spool_, "checkpoint",
                         {{"step", step_},
                          {"path", record::checkpoint_path(step_)},
                          {"bytes", saved.bytes},
                          {"sha256", saved.sha256},
                          {"kind", kind}});
    spool_.sync();
    std::set<std::int64_t> keep = save_at_;
    keep.insert(step_);
    record::prune_checkpoints(folder_, keep);
  }

  void write_weights() {
    const record::SavedFile saved =
        record::save_weights(folder_, {{"x", DType::int64, {1}, std::as_bytes(std::span(&state_, 1))}},
                             {.question = record::Specification::load(folder_).question, .step = step_}, 1);
    testing::write_event(spool_, "artifact",
                         {{"name", "weights"}, {"path", record::weights_file}, {"sha256", saved.sha256}});
  }

  void restore() {
    if (const auto found = record::find_newest_checkpoint(folder_)) {
      state_ = std::stoull(found->tensors.text("state"));
      step_ = std::stoll(found->tensors.text("step"));
      testing::write_event(spool_, "log",
                           {{"level", "info"}, {"text", "resumed after step " + std::to_string(step_)}});
    }
  }

  bool asked_to_stop() {
    const auto command = control_.poll();
    if (setting("FAKE_STUBBORN", 0) != 0) return false;
    return (command && *command == record::ControlCommand::stop) || control_.parent_gone();
  }

  int pause() {
    testing::write_event(spool_, "finished",
                         {{"state", "interrupted"},
                          {"reason", "trained as far as asked"},
                          {"step", step_},
                          {"epochs", step_ / 5}});
    spool_.sync();
    return 75;
  }

  int end(const char* state, const std::string& reason, int code) {
    testing::write_event(spool_, "finished", {{"state", state}, {"reason", reason}, {"step", step_}});
    spool_.sync();
    return code;
  }

  std::filesystem::path folder_;
  int attempt_;
  int threads_;
  std::string name_;
  double rate_ = 0.0, dropout_ = 0.0;
  record::SpoolWriter spool_;
  record::ControlReader control_;
  testing::Pause pause_;
  std::int64_t steps_ = setting("FAKE_STEPS", 20);
  std::int64_t step_ = 0;
  std::uint64_t state_ = 0;
  std::int64_t stop_after_ = 0, stop_after_epoch_ = 0, pause_after_step_ = 0, die_after_ = 0;
  std::set<std::int64_t> save_at_;
};

int check() {
  const record::CheckRequest request =
      record::CheckRequest::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  std::vector<record::CheckProblem> problems;
  wait_at(text_setting("FAKE_HOLD_CHECK", ""));
  if (const char* text = std::getenv("FAKE_CHECK")) {
    const std::string problem = text;
    const std::size_t colon = problem.find(':');
    for (std::size_t i = 0; i < request.size(); ++i)
      problems.push_back({i, problem.substr(0, colon), problem.substr(colon + 1)});
  }
  std::cout << to_json_object(problems).dump() << '\n';
  return problems.empty() ? 0 : 2;
}

/// Prints an answer for each line. `file`: the name of the input file, if it has the format of the run's
/// data.
int predict(const std::string& format, const std::string& file) {
  const std::string what = format + (file.empty() ? "" : " of " + file);
  for (std::string line; std::getline(std::cin, line);) std::cout << what << ": " << line << '\n';
  return 0;
}

int evaluate(const std::string& file) {
  std::cout << nlohmann::json{{"step", 20},
                              {"file", file},
                              {"sha256", ""},
                              {"files", nlohmann::json::array({{{"file", file}, {"sha256", ""}}})},
                              {"examples", 3},
                              {"counts", {{{"name", "words"}, {"value", 12}}}},
                              {"notes", nlohmann::json::array()},
                              {"measures",
                               {{"f1", 0.5}, {"precision", 0.25}, {"loss", 1.5}, {"f1/PER", 0.5}}},
                              {"definitions",
                               {{{"name", "f1"}, {"title", "F1"}, {"fraction", true}},
                                {{"name", "precision"}, {"fraction", true}},
                                {{"name", "f1/{label}"}, {"title", "F1"}, {"fraction", true}},
                                {{"name", "loss"}, {"better", "lower"}}}},
                              {"matrices", nlohmann::json::object()}}
                   .dump()
            << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string verb = argc > 1 ? argv[1] : "";
  std::map<std::string, std::string> options;
  for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  std::signal(SIGPIPE, SIG_IGN);
  if (verb == "check") return check();
  if (verb == "predict") return predict(options["--format"], options["--file"]);
  if (verb == "evaluate") return evaluate(options["--file"]);
  if (verb == "plugins") {
    std::cout << R"({"milliseconds": 1.5, "loaded": [], "refused": []})" << '\n';
    return 0;
  }
  if (verb == "version") {
    std::cout << R"({"backend": "openmp", "build": {"version": "fake"}})" << '\n';
    return 0;
  }
  if (verb != "train") return 2;
  return FakeRun(options["--run-folder"], options).train();
} catch (const std::exception& error) {
  std::cerr << "fake worker: " << error.what() << '\n';
  return 1;
}
