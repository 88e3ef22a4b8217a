// encore-worker: does one thing for one specification, on one backend. Started by exp, seldom by hand.
// Holds Kokkos open around the verb; verbs.hpp lists what there is.
#include <charconv>
#include <iostream>
#include <sstream>

#include <boost/program_options.hpp>
#include <encore/device.hpp>
#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/terminal_filter.hpp"
#include "distributed/mpi_communicator.hpp"
#include "record/crash_line.hpp"
#include "worker/answers.hpp"
#include "worker/environment.hpp"
#include "worker/verbs.hpp"
#include "world/cores.hpp"

namespace encore {
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
    "  predict   --run-folder DIR --plugin-folder DIR... [--format text|jsonl|READER] [--threads T]    < "
    "text\n"
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
    "  check-plugin  --file PLUGIN.so [--data FILE] [--digests] [--threads T]\n"
    "  plugins   FOLDER...\n"
    "  version\n"
    "example: encore-worker train --run-folder encore.db.runs/3f2a9c01d4 --attempt 2\n";

/// Writes version information; needs no options.
int write_version() {
  nlohmann::json build = build_description();
  if (build.contains("source")) build["source"].erase("diff");
  answer_stream() << nlohmann::json{{"backend", ENCORE_BACKEND_NAME},
                                    {"mpi", mpi_library()},
                                    {"build", build},
                                    {"host", host_description()},
                                    {"numeric_environment", numeric_environment(Device(), "float32", {})},
                                    {"tiles", tiles_description()}}
                         .dump()
                  << '\n';
  return 0;
}

/// "5,10,20"
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

std::string first_of(const std::vector<std::string>& list) {
  return list.empty() ? std::string() : list.front();
}

int run_verb(const std::string& verb, const po::variables_map& values, int threads) {
  if (verb == "version") return write_version();
  if (verb == "check") return check_verb();
  if (verb == "size")
    return size_verb({.length = values["length"].as<std::int64_t>(),
                      .batch = values["batch"].as<std::int64_t>(),
                      .vocabulary = values["vocabulary"].as<std::int64_t>(),
                      .labels = values["labels"].as<std::int64_t>(),
                      .picked = values["picked"].as<double>()});
  if (verb == "check-plugin")
    return check_plugin_verb(first_of(values["file"].as<std::vector<std::string>>()),
                             values["data"].as<std::string>(), values["digests"].as<bool>());
  const std::filesystem::path run_folder = values["run-folder"].as<std::string>();
  if (run_folder.empty()) throw Error(verb + " needs --run-folder DIR");
  if (verb == "train")
    return train_verb(
        {run_folder, values["attempt"].as<std::int64_t>(), values["lease"].as<std::string>(),
         values["control-fd"].as<int>(), threads, static_cast<int>(values["ranks"].as<std::int64_t>()),
         values["stop-after"].as<std::int64_t>(), values["die-after"].as<std::int64_t>(),
         steps_of(values["save-at"].as<std::string>()), values["stop-after-epoch"].as<std::int64_t>(),
         values["pause-after-step"].as<std::int64_t>()});
  if (verb == "bench")
    return bench_verb({run_folder, values["attempt"].as<std::int64_t>(), values["control-fd"].as<int>(),
                       threads, static_cast<int>(values["ranks"].as<std::int64_t>())});
  const TrainedRunArguments run = {run_folder, values["plugin-folder"].as<std::vector<std::string>>(),
                                   values["int8"].as<bool>()   ? Weights::int8
                                   : values["int4"].as<bool>() ? Weights::int4
                                                               : Weights::chosen};
  if (verb == "quantize")
    return quantize_verb(
        run, {static_cast<int>(values["bits"].as<std::int64_t>()), values["tolerance"].as<double>(),
              static_cast<std::size_t>(values["examples"].as<std::int64_t>()),
              values["keep"].as<std::vector<std::string>>(), values["texts"].as<std::string>()});
  if (verb == "predict") return predict_verb(run, values["format"].as<std::string>());
  if (verb == "embed") return embed_verb(run);
  if (verb == "attention") return attention_verb(run);
  if (verb == "generate") return generate_verb(run);
  if (verb == "serve") return serve_verb(run, values["socket-fd"].as<int>());
  if (verb == "export")
    return export_verb(run, {values["to"].as<std::string>(), values["format"].as<std::string>(),
                             values["dtype"].as<std::string>(), values["external-data"].as<bool>()});
  return evaluate_verb(run, {values["file"].as<std::vector<std::string>>(), values["beam"].as<std::int64_t>(),
                             values["held-out"].as<double>(), values["statistics"].as<bool>(),
                             values["reference"].as<bool>()});
}

int run(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "plugins") return plugins_verb({argv + 2, argv + argc});
  const bool known = verb == "train" || verb == "check" || verb == "predict" || verb == "evaluate" ||
                     verb == "export" || verb == "bench" || verb == "check-plugin" || verb == "version" ||
                     verb == "size" || verb == "embed" || verb == "generate" || verb == "attention" ||
                     verb == "serve" || verb == "quantize";
  if (!known) {
    (verb == "-h" || verb == "--help" ? answer_stream() : std::cerr) << usage;
    return verb == "-h" || verb == "--help" ? 0 : 2;
  }
  po::options_description options;
  options.add_options()("run-folder", po::value<std::string>()->default_value(""))(
      "plugin-folder", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "attempt", po::value<std::int64_t>()->default_value(1))("lease",
                                                              po::value<std::string>()->default_value(""))(
      "control-fd", po::value<int>()->default_value(-1))("socket-fd", po::value<int>()->default_value(-1))(
      "threads", po::value<int>()->default_value(0))("format",
                                                     po::value<std::string>()->default_value("text"))(
      "file", po::value<std::vector<std::string>>()->default_value({}, ""))(
      "data", po::value<std::string>()->default_value(""))("to", po::value<std::string>()->default_value(""))(
      "dtype", po::value<std::string>()->default_value(""))("digests", po::bool_switch())(
      "external-data", po::bool_switch())("stop-after", po::value<std::int64_t>()->default_value(0))(
      "die-after", po::value<std::int64_t>()->default_value(0))("save-at",
                                                                po::value<std::string>()->default_value(""));
  for (const char* number : {"beam", "examples", "length", "batch", "vocabulary", "labels",
                             "stop-after-epoch", "pause-after-step", "ranks"})
    options.add_options()(number, po::value<std::int64_t>()->default_value(0));
  options.add_options()("picked", po::value<double>()->default_value(0.0))(
      "tolerance", po::value<double>()->default_value(0.0))(
      "held-out", po::value<double>()->default_value(0.0))("statistics", po::bool_switch())(
      "texts", po::value<std::string>()->default_value(""))("int8", po::bool_switch())(
      "int4", po::bool_switch())("reference", po::bool_switch())("bits",
                                                                 po::value<std::int64_t>()->default_value(8))(
      "keep", po::value<std::vector<std::string>>()->default_value({}, ""));
  po::variables_map values;
  po::store(po::command_line_parser(argc - 1, argv + 1).options(options).run(), values);

  const int asked = values["threads"].as<int>();
  require_threads(asked);
  // Checking builds many small models and trains none: threads would only wait for each other.
  const int few = verb == "check" || verb == "size" ? 1 : default_threads(usable_cores(), openmp_wishes());
  const int threads = asked > 0 ? asked : few;
  const KokkosSession kokkos(threads);
  on_host_threads(add_signal_stack);
  return run_verb(verb, values, threads);
}

}  // namespace
}  // namespace encore

int main(int argc, char** argv) {
  encore::keep_answers_apart();
  encore::install_crash_handlers();
  const encore::TerminalFilter errors(std::cerr, false);
  try {
    const int code = encore::run(argc, argv);
    encore::require_answers_written();
    return code;
  } catch (const boost::program_options::error& error) {
    std::cerr << "encore-worker: " << error.what() << "\n" << encore::usage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "encore-worker: " << error.what() << '\n';
    return 1;
  }
}
