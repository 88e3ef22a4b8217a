// The options of the verbs about measurements.
#include "app/bench_requests.hpp"

#include <cstdlib>

namespace encore {

namespace {

Form<BenchOutputRequest> bench_output_options() {
  using R = BenchOutputRequest;
  return Form<R>()
      .option("against", &R::against, "NAME|FILE",
              "compare with an earlier measurement: a name of exp bench ls, or a .json file")
      .option("threshold", &R::threshold, "SHARE",
              "a step that is slower by more than this, interval and all, is a regression")
      .option("svg", &R::svg, "FILE", "write the roofline of the (first) step")
      .flag("json", &R::json, "everything as JSON, raw samples too; --against reads such a file")
      .refuse([](const R& request) -> std::string {
        threshold_of(request.threshold);
        return "";
      });
}

}  // namespace

Form<MeasureRequest> bench_form() {
  using R = MeasureRequest;
  return Form<R>("bench",
                 {"bench [FILE] [options] | bench ls | bench show NAME",
                  "Measures this machine: matrix products, memory, launching of kernels. With an "
                  "experiment file also a training step: speed, the time of its matrix products alone, and "
                  "every kernel with its distance from the machine's limit. Several values of an option "
                  "are crossed and measured in turn. The samples are stored. Exit code 1: --against found "
                  "a regression.",
                  {{"exp bench", "the machine alone"},
                   {"exp bench experiments/quickstart.toml --threads 1,2 --batch-size 8,16",
                    "four steps, in turn"},
                   {"exp bench experiments/quickstart.toml --against quickstart --threshold 5%",
                    "has anything become slower?"}}})
      .option("set,S", &R::set, "KEY=VALUE", "override a setting of the file (may be repeated)")
      .option("plugin-path", &R::plugin_path, "DIR", "search plugins here too (may be repeated)")
      .option("backend", &R::backend, "LIST", "openmp, cuda, hip: one or several (default: that of this exp)")
      .option("threads,t", &R::threads, "LIST",
              "numbers of threads, as 1,2 (default: all this process may use)")
      .option("ranks", &R::ranks, "LIST",
              "numbers of processes that train together over MPI, as 1,2,4: how a step and the same with "
              "as many times the batch scale, and what the exchange takes")
      .option("mpirun", &R::mpirun, "COMMAND", mpirun_help)
      .option("precision", &R::precision, "LIST",
              "float32, bfloat16, float16: one or several (default: that of the file)")
      .option("batch-size", &R::batch_size, "LIST",
              "sequences in a step, as 8,32 (default: that of the file)")
      .option("length", &R::length, "LIST",
              "tokens of every sequence, as 64,256 (default: the lengths of the training set)")
      .option("rounds", &R::rounds, "N", "samples of everything, behind one round of warm-up")
      .option("batches", &R::batches, "N", "steps in a sample; the same batches in every round")
      .flag("order-cost", &R::order_cost,
            "also time the reductions without their fixed order, and say its price")
      .include(&R::output, bench_output_options())
      .option("name", &R::name, "NAME",
              "under which it is stored (default: that of the experiment, or machine)")
      .flag("quiet,q", &R::quiet, "no progress")
      .argument("file", &R::file)
      .refuse([](const R& request) -> std::string {
        const auto& output = request.output;
        if (request.file.empty())
          for (const auto& [option, written] :
               {std::pair("set", !request.set.empty()), std::pair("ranks", !request.ranks.empty()),
                std::pair("precision", !request.precision.empty()),
                std::pair("batch-size", !request.batch_size.empty()),
                std::pair("length", !request.length.empty()), std::pair("against", !output.against.empty()),
                std::pair("svg", !output.svg.empty()), std::pair("order-cost", request.order_cost)})
            if (written) return "--" + std::string(option) + " is about a step; name an experiment file";
        return "";
      })
      .least("rounds", 2, "--rounds {} gives no interval; at least 2, better 6")
      .least("batches", 1, "--batches must be at least 1");
}

Form<BenchShowRequest> bench_show_form() {
  using R = BenchShowRequest;
  return Form<R>("bench show",
                 {"bench show NAME [options]",
                  "Shows an earlier measurement as it was shown then, or compares two earlier ones.",
                  {{"exp bench show quickstart", "the tables again"},
                   {"exp bench show quickstart-2 --against quickstart", "what changed between the two"}}})
      .include(&R::output, bench_output_options())
      .argument("name", &R::name, "the name of a measurement");
}

Form<BenchLsRequest> bench_ls_form() {
  using R = BenchLsRequest;
  return Form<R>("bench ls", {"bench ls [options]",
                              "Lists the measurements in the database, newest first.",
                              {{"exp bench ls", "what --against and bench show can name"}}})
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .exclude("json", "csv");
}

double threshold_of(const std::string& text) {
  const bool percent = text.ends_with("%");
  const std::string number = percent ? text.substr(0, text.size() - 1) : text;
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end) / (percent ? 100.0 : 1.0);
  if (number.empty() || *end != '\0' || !(value > 0.0) || value >= 1.0)
    throw UsageError("--threshold \"" + text + "\" is no share between 0 and 1; write 5% or 0.05");
  return value;
}

}  // namespace encore
