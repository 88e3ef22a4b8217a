// SPDX-License-Identifier: BSD-3-Clause
// The options of bench, bench ls and bench show, and their rules (Form, form.hpp). exp checks the command
// line by these forms and then replaces itself by exp-bench, which reads the same words by the same forms
// (cli/components.cpp, cli/bench_verb.cpp). Names of options must not change; help may. Read next:
// bench_requests.hpp.
#include "app/bench_requests.hpp"

#include <cstdlib>

namespace encore::app {

namespace {

Form<BenchOutputRequest> bench_output_options() {
  using R = BenchOutputRequest;
  return Form<R>()
      .option("against", &R::against, "NAME|FILE",
              "compare with an earlier measurement: a name from exp bench ls, or a .json file")
      .option("threshold", &R::threshold, "SHARE",
              "report a regression if a step is slower by more than this, including its interval")
      .option("svg", &R::svg, "FILE", "write the roofline of the (first) step")
      .flag("json", &R::json, "print everything as JSON, with raw samples; --against reads such a file")
      .refuse([](const R& request) -> std::string {
        threshold_of(request.threshold);
        return "";
      });
}

}  // namespace

Form<MeasureRequest> bench_form() {
  using R = MeasureRequest;
  return Form<R>(
             "bench",
             {"bench [FILE] [options] | bench ls | bench show NAME",
              "Measures this machine: matrix products, memory, launching of kernels. With an experiment "
              "file, also measures a training step: speed, the time of its matrix products, and the "
              "distance of each kernel from the machine's limit. All combinations of option values are "
              "measured in turn. The samples are stored. Exit code 1: --against found a regression, or cases "
              "that must compute equal gradients do not.",
              {{"exp bench", "the machine alone"},
               {"exp bench experiments/quickstart.toml --threads 1,2 --batch-size 8,16",
                "measure four steps in turn"},
               {"exp bench experiments/quickstart.toml --against quickstart --threshold 5%",
                "check whether anything has become slower"}}})
      .option("set,S", &R::set, "KEY=VALUE", "override a setting of the file (may be repeated)")
      .option("plugin-path", &R::plugin_path, "DIR", "search plugins here too (may be repeated)")
      .option("backend", &R::backend, "LIST",
              "one or several of openmp, serial, cuda, hip (default: that of this exp)")
      .option("threads,t", &R::threads, "LIST",
              "numbers of threads, such as 1,2 (default: all CPUs of this process)")
      .option("ranks", &R::ranks, "LIST",
              "numbers of MPI processes that train together, such as 1,2,4: measures how the step scales, "
              "also with the batch multiplied, and the time of the exchange")
      .option("mpirun", &R::mpirun, "COMMAND", mpirun_help)
      .option("precision", &R::precision, "LIST",
              "one or several of float32, bfloat16, float16 (default: that of the file)")
      .option("batch-size", &R::batch_size, "LIST",
              "sequences in a step, such as 8,32 (default: that of the file)")
      .option("length", &R::length, "LIST",
              "tokens in each sequence, such as 64,256 (default: the lengths of the training set)")
      .option("rounds", &R::rounds, "N", "samples of each measurement, after one warm-up round")
      .option("batches", &R::batches, "N", "steps in a sample; every round uses the same batches")
      .flag("order-cost", &R::order_cost,
            "also measure the reductions without their fixed order, to show what the order costs")
      .include(&R::output, bench_output_options())
      .option("name", &R::name, "NAME",
              "name of the stored measurement (default: that of the experiment, or machine)")
      .flag("quiet,q", &R::quiet, "print no progress")
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
            if (written)
              return "--" + std::string(option) + " measures a training step; name an experiment file";
        return "";
      })
      .least("rounds", 2, "--rounds {} gives no interval: expected at least 2, better 6")
      .least("batches", 1, "--batches must be at least 1");
}

Form<BenchShowRequest> bench_show_form() {
  using R = BenchShowRequest;
  return Form<R>("bench show",
                 {"bench show NAME [options]",
                  "Shows an earlier measurement, or compares two earlier ones.",
                  {{"exp bench show quickstart", "print the tables again"},
                   {"exp bench show quickstart-2 --against quickstart", "what changed between the two"}}})
      .include(&R::output, bench_output_options())
      .argument("name", &R::name, "the name of a measurement");
}

Form<BenchLsRequest> bench_ls_form() {
  using R = BenchLsRequest;
  return Form<R>("bench ls", {"bench ls [options]",
                              "Lists the measurements in the database, newest first.",
                              {{"exp bench ls", "the names for --against and bench show"}}})
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
    throw UsageError("invalid --threshold \"" + text +
                     "\": expected a share between 0 and 1, such as 5% or 0.05");
  return value;
}

}  // namespace encore::app
