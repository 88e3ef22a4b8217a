// SPDX-License-Identifier: BSD-3-Clause
// The options of serve and monitor, and their rules (Form, form.hpp). exp checks the command line by these
// forms and then replaces itself by exp-serve, which reads the same words by the same forms
// (cli/components.cpp). Names of options must not change; help may. Read next: serving_requests.hpp.
#include "app/serving_requests.hpp"

#include <limits>

namespace encore::app {

namespace {

/// The smallest number above 0, for ranges without 0.
constexpr double tiny = std::numeric_limits<double>::min();

}  // namespace

Form<ServingRequest> serve_form() {
  using R = ServingRequest;
  Form<R> form(
      "serve",
      {"serve RUN|FOLDER|BUNDLE... [options]",
       "Serves the best models of runs over HTTP until Ctrl-C or SIGTERM: POST /v1/predict for any task, "
       "POST /v1/embeddings and /v1/completions if the model supports them, and a page to try them at /. "
       "Inputs that arrive at the same time are computed together. Only this machine can connect without "
       "--host. SIGHUP selects and loads the models again, while the old ones keep serving.\nFOLDER is the "
       "output of exp export --format encore, or the folder of a run; write ./NAME if a run has the same "
       "name. BUNDLE is NAME.tar.zst of exp bundle, or NAME.tar.zst:ID with the beginning of an id if it "
       "holds several runs. Neither needs a database. Their plugins are searched in the build and "
       "--plugin-path.",
       {{"exp serve quickstart", "serve the model of one run at http://127.0.0.1:8080"},
        {"exp serve quickstart shakespeare --port 0",
         "serve two models at any free port; requests name the model"},
        {"exp serve all --best dev/f1", "serve the best model of all runs"},
        {"exp serve quickstart.tar.zst", "serve the model of a bundle, without a database"},
        {"exp serve shakespeare quickstart-model", "serve a run, and a folder of exp export --format encore"},
        {"exp serve quickstart --monitor=0.1",
         "store numbers of 10 % of the requests, for exp monitor quickstart"},
        {"exp serve desk --review desk.queue",
         "queue the requests that the application desk leaves to people"},
        {"exp serve quickstart --host 0.0.0.0 --token-file token.txt",
         "serve other machines, with a token"}}});
  form.option("host", &R::host, "ADDRESS", "the address to listen on; 0.0.0.0: all addresses of this machine")
      .option("port", &R::port, "N", "the port to listen on; 0: any free port")
      .option("token-file", &R::token_file, "FILE",
              "a file with the token that clients must send, with mode 0600 (or set $ENCORE_SERVE_TOKEN)")
      .option("workers", &R::workers, "N",
              "processes for each model, which share the cores; 0: two on a CPU with at least two cores, one "
              "on a GPU")
      .option("batch", &R::batch, "N", "compute at most N inputs together")
      .option("batch-wait", &R::batch_wait, "MS",
              "milliseconds that an input waits for others while a worker is idle; 0: inputs are only "
              "collected while all workers are busy")
      .option("queue", &R::queue, "N", "at most N waiting inputs; more are refused with 429")
      .option("timeout", &R::timeout, "S", "at most S seconds from a request to its answer")
      .option("body-kib", &R::body_kib, "N", "at most N KiB in the body of a request")
      .option("max-tokens", &R::max_tokens, "N", "largest number of tokens that a request may generate")
      .option("connections", &R::connections, "N", "at most N open connections; more are refused with 503")
      .option("receive-timeout", &R::receive_timeout, "S",
              "at most S seconds for a client to send its request")
      .option("drain", &R::drain, "S", "seconds to finish the last answers after a request to end")
      .option("monitor", &R::monitor, "SHARE",
              "store numbers, but no text, about this share of the requests to /v1/predict (--monitor=0.1; "
              "without a value: all)")
      .alone("1")
      .option("monitor-texts", &R::monitor_texts, "DAYS",
              "also store their inputs and answers, for DAYS days")
      .option(
          "review", &R::review, "QUEUE",
          "put the requests that an application leaves to people into this queue (exp review new makes it), "
          "and serve the page /review to decide them")
      .include(&R::model, weights_options())
      .include(&R::selection, run_arguments());
  const std::string at_least_one = " {}: expected at least 1";
  for (const std::string count : {"batch", "queue", "connections", "max-tokens"})
    form.least(count, 1, "invalid --" + count + at_least_one);
  for (const std::string seconds : {"timeout", "drain", "receive-timeout"})
    form.range(seconds, 0.001, 86400.0, "invalid --" + seconds + " {}: expected 0.001 to 86400 seconds");
  return form.range("port", 0, 65535, "invalid --port {}: expected 0 to 65535")
      .range("workers", 0, 256, "invalid --workers {}: expected 0 to 256")
      .range("body-kib", 1, 1 << 20, "invalid --body-kib {}: expected 1 to 1048576")
      .range("batch-wait", 0.0, 1000.0, "invalid --batch-wait {}: expected 0 to 1000 milliseconds")
      .range("monitor", tiny, 1.0,
             "invalid --monitor {}: expected a share of the requests, above 0 and at most 1")
      .range("monitor-texts", tiny, 3650.0,
             "invalid --monitor-texts {}: expected a number of days, above 0 and at most 3650")
      .needs("monitor-texts", "monitor", "--monitor-texts needs --monitor, the share of the requests");
}

Form<MonitorRequest> monitor_form() {
  using R = MonitorRequest;
  return Form<R>(
             "monitor",
             {"monitor [RUN] [options]",
              "Compares the inputs that exp serve --monitor has answered with the development set of the "
              "run: length, unknown tokens, confidence, labels, distance of embeddings. PSI and JS measure "
              "the differences; the evidence shows whether they are more than chance, and may be checked at "
              "any time. Exit code 3: the inputs have changed, with a probability of a false alarm of at "
              "most --alpha.\nWith --alerts, evaluates your own rules over the answers: shares of labels, "
              "their changes "
              "and the number of items in windows of time, for each group, with intervals. --replay does so "
              "for "
              "a file of events; it needs neither run nor database. Exit code 3: an alert is raised.",
              {{"exp monitor quickstart", "print a table, and whether the inputs have changed"},
               {"exp monitor quickstart --json --window 200", "describe the last 200 inputs, for a program"},
               {"exp monitor quickstart --on-alert ./tell.sh",
                "pass the numbers to a command as JSON on its standard input"},
               {"exp monitor quickstart --alpha 0.01", "alert only with more evidence"},
               {"exp monitor --replay events.jsonl --alerts alerts.toml",
                "apply your own alerts to a file of events"}}})
      .option("window", &R::window, "N", "describe the last N inputs; the test uses all inputs")
      .option("alpha", &R::alpha, "P", "largest probability of a false alarm, over all checks together")
      .option("on-alert", &R::on_alert, "CMD",
              "a command for /bin/sh to run at an alert, with the numbers as JSON on its standard input")
      .option("alert-timeout", &R::alert_timeout, "S", "stop the command after S seconds without output")
      .option("alerts", &R::alerts, "FILE",
              "evaluate the alerts of this TOML file instead (docs/guides/alerts.md describes them)")
      .option("replay", &R::replay, "FILE",
              "apply --alerts to events from this file, an object of JSON with time, id and fields on each "
              "line; -: from standard input")
      .flag("follow,f", &R::follow,
            "evaluate --alerts each second until Ctrl-C, reading only new answers, and print a line when an "
            "alert is raised or ends")
      .option("forget", &R::forget, "REQUEST", "only remove the stored data of this request (X-Request-Id)")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the table as CSV")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .needs("replay", "alerts", "--replay needs --alerts, the file with the rules to apply")
      .needs("follow", "alerts", "--follow needs --alerts, the file with the rules to evaluate")
      .exclude("follow", "replay", "--follow and --replay exclude each other: --replay - follows its input")
      .exclude("follow", "csv")
      .exclude("forget", "alerts")
      .exclude("window", "alerts",
               "--window and --alerts exclude each other: each alert has the option window in its file")
      .exclude("alpha", "alerts",
               "--alpha and --alerts exclude each other: each alert has the option confidence in its file")
      .refuse([](const R& request) -> std::string {
        return request.alpha > 0.0 && request.alpha < 1.0
                   ? ""
                   : "invalid --alpha: expected a probability, above 0 and below 1";
      })
      .least("window", 1, "invalid --window {}: expected at least 1")
      .least("alert-timeout", 1, "invalid --alert-timeout {}: expected at least 1");
}

}  // namespace encore::app
