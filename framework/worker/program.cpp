// SPDX-License-Identifier: BSD-3-Clause
// run_worker_program(): reads the options of a call, opens Kokkos and runs the verb, or replaces this process
// with the program of the verb. All main files of this folder call it. The program of the verb must replace
// this process, because exp follows its process id. Read program.hpp first.
#include "worker/program.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string_view>

#include <encore/device.hpp>
#include <encore/error.hpp>

#include "base/terminal_filter.hpp"
#include "record/crash_line.hpp"
#include "record/signal_stack.hpp"
#include "worker/answers.hpp"
#include "world/cores.hpp"

namespace encore::worker {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "encore-worker VERB [options]: trains, evaluates and predicts for exp (backend " ENCORE_BACKEND_NAME
    ")\n"
    "  train     --run-folder DIR [--attempt N] [--lease TOKEN] [--control-fd FD] [--threads T]\n"
    "            [--stop-after STEP] [--die-after STEP] [--save-at STEP,STEP...] [--stop-after-epoch N]\n"
    "            [--pause-after-step STEP] [--ranks N: started N times by mpirun]\n"
    "  check     < specifications.json\n"
    "  size      [--length T] [--batch B] [--vocabulary V] [--labels K] [--picked SHARE]    < "
    "specifications.json\n"
    "  predict   --run-folder DIR --plugin-folder DIR... [--format text|jsonl|READER] [--scores] [--trace]\n"
    "            [--threads T]    < text\n"
    "            [--file NAME: what comes is a file of this name in the format of the run's data]\n"
    "            [--output FILE: write the answers there]\n"
    "  evaluate  --run-folder DIR --plugin-folder DIR... --file FILE... [--beam N] "
    "[--held-out SHARE]\n"
    "            [--reference] [--statistics] [--threads T]\n"
    "  embed     --run-folder DIR --plugin-folder DIR... [--threads T]    < request.json\n"
    "  attention --run-folder DIR --plugin-folder DIR... [--threads T]    < request.json\n"
    "  generate  --run-folder DIR --plugin-folder DIR... [--threads T]    < request.json\n"
    "  serve     --run-folder DIR --plugin-folder DIR... --socket-fd FD [--threads T]\n"
    "  quantize  --run-folder DIR --plugin-folder DIR... [--bits 8|4] --tolerance X --examples N [--keep "
    "PATH...] "
    "[--texts FILE] "
    "[--threads T]\n"
    "  export    --run-folder DIR --plugin-folder DIR... --to FOLDER --format huggingface|onnx|encore "
    "[--dtype "
    "TYPE]\n"
    "            [--external-data] [--threads T]\n"
    "            --int8 or --int4 on those from predict to serve: with the weights that quantize has "
    "written\n"
    "  bench     --run-folder DIR [--attempt N] [--control-fd FD] [--threads T]\n"
    "            [--ranks N: started N times by mpirun]\n"
    "  check-plugin  --file PLUGIN.so [--data FILE...] [--reader-plugin READER.so] [--set KEY=VALUE...]\n"
    "            [--width C] [--length T] [--digests] [--threads T]\n"
    "  plugins   FOLDER...\n"
    "  survey    < request.json\n"
    "  version\n"
    "example: encore-worker train --run-folder encore.db.runs/3f2a9c01d4 --attempt 2\n";

/// The verbs that have a program of their own.
constexpr std::array<std::string_view, 3> verbs_beside = {"bench", "check-plugin", "export"};

/// Replaces this process with the program of the verb, which lies beside this one. Returns only on failure.
int become_program_of(const std::string& verb, char** argv) {
  std::error_code unknown;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string name = "encore-worker-" + verb, program = (own.parent_path() / name).string();
  ::execv(program.c_str(), argv);
  std::cerr << "encore-worker: cannot start " << program << ": " << std::strerror(errno)
            << "; if it is not built yet, ./exp build " << name << " builds it\n";
  return 1;
}

po::variables_map parse(int argc, char** argv) {
  po::options_description options;
  options.add_options()("run-folder", po::value<std::string>()->default_value(""))(
      "plugin-folder", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "attempt", po::value<std::int64_t>()->default_value(1))("lease",
                                                              po::value<std::string>()->default_value(""))(
      "control-fd", po::value<int>()->default_value(-1))("socket-fd", po::value<int>()->default_value(-1))(
      "threads", po::value<int>()->default_value(0))("format",
                                                     po::value<std::string>()->default_value("text"))(
      "file", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "set", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "reader-plugin", po::value<std::string>()->default_value(""))(
      "data", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "to", po::value<std::string>()->default_value(""))(
      "dtype", po::value<std::string>()->default_value(""))("digests", po::bool_switch())(
      "external-data", po::bool_switch())("stop-after", po::value<std::int64_t>()->default_value(0))(
      "die-after", po::value<std::int64_t>()->default_value(0))("save-at",
                                                                po::value<std::string>()->default_value(""));
  for (const char* number : {"beam", "examples", "length", "batch", "vocabulary", "labels", "width",
                             "stop-after-epoch", "pause-after-step", "ranks"})
    options.add_options()(number, po::value<std::int64_t>()->default_value(0));
  options.add_options()("picked", po::value<double>()->default_value(0.0))(
      "tolerance", po::value<double>()->default_value(0.0))(
      "held-out", po::value<double>()->default_value(0.0))("statistics", po::bool_switch())(
      "texts", po::value<std::string>()->default_value(""))(
      "output", po::value<std::string>()->default_value(""))("int8", po::bool_switch())(
      "int4", po::bool_switch())("reference", po::bool_switch())("scores", po::bool_switch())(
      "trace", po::bool_switch())("bits", po::value<std::int64_t>()->default_value(8))(
      "keep", po::value<std::vector<std::string>>()->default_value({}, ""));
  po::variables_map values;
  po::store(po::command_line_parser(argc - 1, argv + 1).options(options).run(), values);
  return values;
}

int run(int argc, char** argv, const WorkerVerbs& verbs) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const auto found = verbs.find(verb);
  if (found == verbs.end()) {
    (verb == "-h" || verb == "--help" ? answer_stream() : std::cerr) << usage;
    return verb == "-h" || verb == "--help" ? 0 : 2;
  }
  WorkerCall call = {.values = {}, .verb = verb, .words = {argv + 2, argv + argc}};
  if (!found->second.computes) return found->second.run(call);
  call.values = parse(argc, argv);
  const int asked = call.values["threads"].as<int>();
  world::require_threads(asked);
  // check and size build many small models and train none: more threads would only wait for each other.
  const int few = verb == "check" || verb == "size"
                      ? 1
                      : world::default_threads(world::usable_cores(), world::openmp_wishes());
  call.threads = asked > 0 ? asked : few;
  const KokkosSession kokkos(call.threads);
  on_host_threads(record::add_signal_stack);
  return found->second.run(call);
}

}  // namespace

std::filesystem::path WorkerCall::run_folder() const {
  const std::filesystem::path folder = text("run-folder");
  if (folder.empty()) throw Error(verb + " needs --run-folder DIR");
  return folder;
}

TrainedRunArguments WorkerCall::trained_run() const {
  return {run_folder(), texts("plugin-folder"),
          flag("int8")   ? infer::Weights::int8
          : flag("int4") ? infer::Weights::int4
                         : infer::Weights::chosen};
}

int run_worker_program(int argc, char** argv, const WorkerVerbs& verbs) {
  if (argc > 1 && !verbs.contains(argv[1]) && std::ranges::find(verbs_beside, argv[1]) != verbs_beside.end())
    return become_program_of(argv[1],
                             argv);  // before keep_answers_apart(), which that program calls
  keep_answers_apart();
  record::install_crash_handlers();
  const TerminalFilter errors(std::cerr, false);
  try {
    const int code = run(argc, argv, verbs);
    require_answers_written();
    return code;
  } catch (const po::error& error) {
    std::cerr << "encore-worker: " << error.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "encore-worker: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace encore::worker
