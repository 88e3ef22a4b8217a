// The options of serve and monitor. Their work is done by exp-serve (components.hpp).
#include "cli/components.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"

namespace encore {

namespace po = boost::program_options;

CommandLine make_serve_line() {
  CommandLine line(
      "serve",
      {"serve RUN|FOLDER|BUNDLE... [options]",
       "Answers requests over HTTP with the best models of runs, until Ctrl-C or SIGTERM: POST /v1/predict "
       "for any task, POST /v1/embeddings and /v1/completions where the model fits, and a page to try them "
       "at /. Texts that come at the same time are computed together. Only this machine can ask, unless "
       "--host says otherwise. SIGHUP has it choose and load the models anew, while those that are there "
       "answer on.",
       {{"exp serve quickstart", "the model of one run at http://127.0.0.1:8080"},
        {"exp serve quickstart shakespeare --port 0", "two models by name, at any free port"},
        {"exp serve all --best dev/f1", "the best model there is"},
        {"exp serve quickstart.tar.zst", "the model in a bundle, without a database"},
        {"exp serve shakespeare quickstart-model",
         "a run, and a folder that exp export --format encore has written"},
        {"exp serve quickstart --monitor=0.1",
         "keep numbers of a tenth of the requests, for exp monitor quickstart"},
        {"exp serve quickstart --host 0.0.0.0 --token-file token.txt", "for other machines, with a token"}}});
  const auto count = [](int value) { return po::value<int>()->value_name("N")->default_value(value); };
  const auto real = [](double value, const char* unit, const char* shown) {
    return po::value<double>()->value_name(unit)->default_value(value, shown);
  };
  line.options()("host", po::value<std::string>()->value_name("ADDRESS")->default_value("127.0.0.1"),
                 "where to listen; 0.0.0.0: wherever this machine can be reached");
  line.options()("port", count(8080), "0: any that is free");
  line.options()(
      "token-file", po::value<std::string>()->value_name("FILE"),
      "a file with the token that clients have to send, which no other user may read: mode 0600 (or "
      "$ENCORE_SERVE_TOKEN)");
  line.options()(
      "workers", count(0),
      "processes for each model, which share the cores; 0: two on a processor with two cores, one on a GPU");
  line.options()("batch", count(32), "texts that are computed together at most");
  line.options()(
      "batch-wait", real(0.0, "MS", "0"),
      "milliseconds that a text waits for others while a worker has nothing to do; 0: texts come together "
      "while workers are at work");
  line.options()("queue", count(1024), "texts that may wait; more are refused with 429");
  line.options()("timeout", real(30.0, "S", "30"), "seconds from a request to its answer at most");
  line.options()("body-kib", count(1024), "KiB of a request's body at most");
  line.options()("max-tokens", count(4096), "pieces that a text may be asked to have");
  line.options()("connections", count(1024), "that may be open; more are refused with 503");
  line.options()("receive-timeout", real(10.0, "S", "10"),
                 "seconds that a client may take to send its request");
  line.options()("drain", real(30.0, "S", "30"), "seconds for the last answers once it is to end");
  line.options()("monitor", po::value<double>()->value_name("SHARE")->implicit_value(1.0, "1"),
                 "keep numbers of this share of the requests to /v1/predict (--monitor=0.1; alone: of all), "
                 "but no text");
  line.options()("monitor-texts", po::value<double>()->value_name("DAYS"),
                 "keep their texts and answers too, for so many days");
  add_model_options(line);
  add_weights_option(line);
  add_run_arguments(line);
  line.explain(
      "FOLDER is what exp export --format encore writes, or the folder of a run; ./NAME where a run is "
      "called so, too. BUNDLE is NAME.tar.zst of exp bundle; NAME.tar.zst:ID, with the beginning of an id, "
      "where it holds several runs. Neither needs a database. Their plugins are looked for in the build and "
      "--plugin-path.");
  return line;
}

CommandLine make_monitor_line() {
  CommandLine line(
      "monitor",
      {"monitor RUN [options]",
       "Compares the texts that exp serve --monitor has answered to with the development set of the run: "
       "length, unknown pieces, confidence, labels, distance of embeddings. PSI and JS say how far they lie "
       "apart; the evidence says whether that is more than chance, and may be looked at as often as you "
       "like. Exit code 3: the texts have changed, with a probability of a false alarm of at most --alpha.",
       {{"exp monitor quickstart", "a table, and whether anything has changed"},
        {"exp monitor quickstart --json --window 200", "the last 200 texts, for programs"},
        {"exp monitor quickstart --on-alert ./tell.sh",
         "have the numbers sent, as JSON on the command's standard input"},
        {"exp monitor quickstart --alpha 0.01", "see less evidence as an alert"}}});
  line.options()("window", po::value<int>()->value_name("N")->default_value(1000),
                 "describe the last N texts; the test has seen all");
  line.options()("alpha", po::value<double>()->value_name("P")->default_value(0.001, "0.001"),
                 "how probable a false alarm may be, over all times that one looks");
  line.options()(
      "on-alert", po::value<std::string>()->value_name("CMD"),
      "a line for /bin/sh that is run at an alert, with the numbers as JSON on its standard input");
  line.options()("alert-timeout", po::value<int>()->value_name("S")->default_value(60),
                 "seconds that it may say nothing");
  line.options()("forget", po::value<std::string>()->value_name("REQUEST"),
                 "remove what is kept of this request (X-Request-Id), and do nothing else");
  line.options()("json", po::bool_switch(), "as JSON");
  add_run_arguments(line);
  return line;
}

int serve_verb(const Arguments& arguments) {
  return run_in_component(make_serve_line(), arguments);
}

int monitor_verb(const Arguments& arguments) {
  return run_in_component(make_monitor_line(), arguments);
}

}  // namespace encore
