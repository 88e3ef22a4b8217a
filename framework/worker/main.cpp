// SPDX-License-Identifier: BSD-3-Clause
// main() of encore-worker, which runs one verb for one specification on one backend. exp starts it; users
// seldom do. program.hpp reads the options and opens Kokkos; verbs.hpp declares the verbs. `exp` calls the
// verbs by name, so names, options and exit codes must stay. A new verb is one line in the table below.
#include <charconv>
#include <sstream>

#include <encore/device.hpp>
#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "distributed/communicator.hpp"
#include "infer/engine.hpp"
#include "worker/answers.hpp"
#include "worker/environment.hpp"
#include "worker/program.hpp"

namespace encore::worker {
namespace {

/// The verb version: writes name, version and environment; needs no options.
int write_version() {
  nlohmann::json build = build_description();
  if (build.contains("source")) build["source"].erase("diff");
  answer_stream() << nlohmann::json{{"backend", ENCORE_BACKEND_NAME},
                                    {"mpi", distributed::mpi_library()},
                                    {"build", build},
                                    {"host", host_description()},
                                    {"numeric_environment", numeric_environment(Device(), "float32", {})},
                                    {"tiles", tiles_description()}}
                         .dump()
                  << '\n';
  return 0;
}

/// Returns the numbers in "5,10,20".
std::set<std::int64_t> steps_of(const std::string& list) {
  std::set<std::int64_t> steps;
  std::istringstream in(list);
  for (std::string text; std::getline(in, text, ',');) {
    std::int64_t step = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (failure != std::errc() || end != text.data() + text.size() || step < 1)
      throw Error("--save-at is \"" + list + "\"; it must be steps with commas between them");
    steps.insert(step);
  }
  return steps;
}

int train(const WorkerCall& call) {
  return train_verb({call.run_folder(), call.whole("attempt"), call.text("lease"),
                     call.descriptor("control-fd"), call.threads, static_cast<int>(call.whole("ranks")),
                     call.whole("stop-after"), call.whole("die-after"), steps_of(call.text("save-at")),
                     call.whole("stop-after-epoch"), call.whole("pause-after-step")});
}

int size(const WorkerCall& call) {
  return size_verb({.length = call.whole("length"),
                    .batch = call.whole("batch"),
                    .vocabulary = call.whole("vocabulary"),
                    .labels = call.whole("labels"),
                    .picked = call.number("picked")});
}

int quantize(const WorkerCall& call) {
  return quantize_verb(call.trained_run(), {static_cast<int>(call.whole("bits")), call.number("tolerance"),
                                            static_cast<std::size_t>(call.whole("examples")),
                                            call.texts("keep"), call.text("texts")});
}

bool is_application(const TrainedRunArguments& run) {
  return record::is_application(record::Specification::load(run.folder));
}

int predict(const WorkerCall& call) {
  AnswerFile output(call.text("output"));
  const TrainedRunArguments run = call.trained_run();
  const bool application = is_application(run);
  const std::vector<std::string> file = call.texts("file");
  const PredictArguments arguments = {
      .format = call.text("format"),
      .scores = call.flag("scores") ? infer::Scores::with : infer::Scores::without,
      .trace = call.flag("trace")};
  const int code = !file.empty()
                       ? (application ? predict_application_file_verb : predict_file_verb)(run, file.front())
                       : (application ? predict_application_verb : predict_verb)(run, arguments);
  if (code == 0) output.commit();
  return code;
}

int evaluate(const WorkerCall& call) {
  const TrainedRunArguments run = call.trained_run();
  return (is_application(run) ? evaluate_application_verb : evaluate_verb)(
      run, {call.texts("file"), call.whole("beam"), call.number("held-out"), call.flag("statistics"),
            call.flag("reference")});
}

WorkerVerbs verbs() {
  WorkerVerbs list = {
      {"train", {train}},
      {"check", {[](const WorkerCall&) { return check_verb(); }}},
      {"size", {size}},
      {"predict", {predict}},
      {"evaluate", {evaluate}},
      {"embed", {[](const WorkerCall& call) { return embed_verb(call.trained_run()); }}},
      {"attention", {[](const WorkerCall& call) { return attention_verb(call.trained_run()); }}},
      {"generate", {[](const WorkerCall& call) { return generate_verb(call.trained_run()); }}},
      {"serve",
       {[](const WorkerCall& call) { return serve_verb(call.trained_run(), call.descriptor("socket-fd")); }}},
      {"quantize", {quantize}},
      {"plugins",
       {[](const WorkerCall& call) {
          return plugins_verb({call.words.begin(), call.words.end()});
        },
        false}},
      {"survey", {[](const WorkerCall&) { return survey_verb(); }, false}},
      {"version", {[](const WorkerCall&) { return write_version(); }}},
  };
#ifdef ENCORE_ONE_WORKER
  list.merge(bench_verbs());
  list.merge(check_plugin_verbs());
  list.merge(export_verbs());
#endif
  return list;
}

}  // namespace
}  // namespace encore::worker

int main(int argc, char** argv) {
  return encore::worker::run_worker_program(argc, argv, encore::worker::verbs());
}
