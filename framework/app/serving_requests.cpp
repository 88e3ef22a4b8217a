// The options of the verbs about served models.
#include "app/serving_requests.hpp"

#include <limits>

namespace encore {

namespace {

/// The smallest number above 0, for ranges that leave 0 out.
constexpr double tiny = std::numeric_limits<double>::min();

}  // namespace

Form<ServingRequest> serve_form() {
  using R = ServingRequest;
  Form<R> form(
      "serve",
      {"serve RUN|FOLDER|BUNDLE... [options]",
       "Answers requests over HTTP with the best models of runs, until Ctrl-C or SIGTERM: POST "
       "/v1/predict for any task, POST /v1/embeddings and /v1/completions where the model fits, "
       "and a page to try them at /. Texts that come at the same time are computed together. "
       "Only this machine can ask, unless --host says otherwise. SIGHUP has it choose and load "
       "the models anew, while those that are there answer on.\nFOLDER is what exp export "
       "--format encore writes, or the folder of a run; ./NAME where a run is called so, too. "
       "BUNDLE is NAME.tar.zst of exp bundle; NAME.tar.zst:ID, with the beginning of an id, "
       "where it holds several runs. Neither needs a database. Their plugins are looked for in "
       "the build and --plugin-path.",
       {{"exp serve quickstart", "the model of one run at http://127.0.0.1:8080"},
        {"exp serve quickstart shakespeare --port 0", "two models by name, at any free port"},
        {"exp serve all --best dev/f1", "the best model there is"},
        {"exp serve quickstart.tar.zst", "the model in a bundle, without a database"},
        {"exp serve shakespeare quickstart-model",
         "a run, and a folder that exp export --format encore has written"},
        {"exp serve quickstart --monitor=0.1",
         "keep numbers of a tenth of the requests, for exp monitor quickstart"},
        {"exp serve quickstart --host 0.0.0.0 --token-file token.txt", "for other machines, with a token"}}});
  form.option("host", &R::host, "ADDRESS", "where to listen; 0.0.0.0: wherever this machine can be reached")
      .option("port", &R::port, "N", "0: any that is free")
      .option("token-file", &R::token_file, "FILE",
              "a file with the token that clients have to send, which no other user may read: mode 0600 "
              "(or $ENCORE_SERVE_TOKEN)")
      .option("workers", &R::workers, "N",
              "processes for each model, which share the cores; 0: two on a processor with two cores, one "
              "on a GPU")
      .option("batch", &R::batch, "N", "texts that are computed together at most")
      .option("batch-wait", &R::batch_wait, "MS",
              "milliseconds that a text waits for others while a worker has nothing to do; 0: texts come "
              "together while workers are at work")
      .option("queue", &R::queue, "N", "texts that may wait; more are refused with 429")
      .option("timeout", &R::timeout, "S", "seconds from a request to its answer at most")
      .option("body-kib", &R::body_kib, "N", "KiB of a request's body at most")
      .option("max-tokens", &R::max_tokens, "N", "tokens that a text may be asked to have")
      .option("connections", &R::connections, "N", "that may be open; more are refused with 503")
      .option("receive-timeout", &R::receive_timeout, "S",
              "seconds that a client may take to send its request")
      .option("drain", &R::drain, "S", "seconds for the last answers once it is to end")
      .option("monitor", &R::monitor, "SHARE",
              "keep numbers of this share of the requests to /v1/predict (--monitor=0.1; alone: of all), "
              "but no text")
      .alone("1")
      .option("monitor-texts", &R::monitor_texts, "DAYS",
              "keep their texts and answers too, for so many days")
      .include(&R::model, weights_options())
      .include(&R::selection, run_arguments());
  const std::string at_least_one = " is {}; it must be from 1 up";
  for (const std::string count : {"batch", "queue", "connections", "max-tokens"})
    form.least(count, 1, "--" + count + at_least_one);
  for (const std::string seconds : {"timeout", "drain", "receive-timeout"})
    form.range(seconds, 0.001, 86400.0, "--" + seconds + " must be from 0.001 to 86400 seconds");
  return form.range("port", 0, 65535, "--port is {}; it must be from 0 to 65535")
      .range("workers", 0, 256, "--workers is {}; it must be from 0 to 256")
      .range("body-kib", 1, 1 << 20, "--body-kib is {}; it must be from 1 to 1048576")
      .range("batch-wait", 0.0, 1000.0, "--batch-wait must be from 0 to 1000 milliseconds")
      .range("monitor", tiny, 1.0, "--monitor must be a share of the requests, above 0 and up to 1")
      .range("monitor-texts", tiny, 3650.0,
             "--monitor-texts must be a number of days, above 0 and up to 3650")
      .needs("monitor-texts", "monitor",
             "--monitor-texts says for how long texts are kept, and --monitor of which requests; give both");
}

Form<MonitorRequest> monitor_form() {
  using R = MonitorRequest;
  return Form<R>("monitor",
                 {"monitor RUN [options]",
                  "Compares the texts that exp serve --monitor has answered to with the development set of "
                  "the run: length, unknown tokens, confidence, labels, distance of embeddings. PSI and JS "
                  "say how far they lie apart; the evidence says whether that is more than chance, and may "
                  "be looked at as often as you like. Exit code 3: the texts have changed, with a "
                  "probability of a false alarm of at most --alpha.",
                  {{"exp monitor quickstart", "a table, and whether anything has changed"},
                   {"exp monitor quickstart --json --window 200", "the last 200 texts, for programs"},
                   {"exp monitor quickstart --on-alert ./tell.sh",
                    "have the numbers sent, as JSON on the command's standard input"},
                   {"exp monitor quickstart --alpha 0.01", "see less evidence as an alert"}}})
      .option("window", &R::window, "N", "describe the last N texts; the test has seen all")
      .option("alpha", &R::alpha, "P", "how probable a false alarm may be, over all times that one looks")
      .option("on-alert", &R::on_alert, "CMD",
              "a line for /bin/sh that is run at an alert, with the numbers as JSON on its standard input")
      .option("alert-timeout", &R::alert_timeout, "S", "seconds that it may say nothing")
      .option("forget", &R::forget, "REQUEST",
              "remove what is kept of this request (X-Request-Id), and do nothing else")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "the table as CSV")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .refuse([](const R& request) -> std::string {
        return request.alpha > 0.0 && request.alpha < 1.0
                   ? ""
                   : "--alpha must be a probability, above 0 and below 1";
      })
      .least("window", 1, "--window must be at least 1")
      .least("alert-timeout", 1, "--alert-timeout must be at least 1");
}

}  // namespace encore
