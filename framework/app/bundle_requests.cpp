// SPDX-License-Identifier: BSD-3-Clause
// The options of bundle, bundle show and db merge, and their rules (Form, form.hpp). exp checks the command
// line by these forms and then replaces itself by exp-report, which reads the same words by the same forms
// (cli/components.cpp). Names of options must not change; help may. Read next: bundle_requests.hpp.
#include "app/bundle_requests.hpp"

#include "app/verify.hpp"

namespace encore::app {

Form<BundleRequest> bundle_form() {
  using R = BundleRequest;
  return Form<R>(
             "bundle",
             {"bundle RUN...|SEARCH -o FILE.tar.zst [options]",
              "Writes runs and their evidence into one file: their rows in a database of its own, resolved "
              "settings, commit and changes, spools, digests, predictions, the best parameters, and the "
              "report. Names and hashes of the data are included; --data packs the data too. Another person "
              "checks the file with exp verify FILE.tar.zst. For other programs it is an RO-Crate 1.1. exp "
              "bundle show FILE prints its content.",
              {{"exp bundle quickstart -o quickstart.tar.zst", "a run, or all runs of a sweep or a search"},
               {"exp bundle quickstart --data -o quickstart.tar.zst",
                "include the files that it was trained on"},
               {"exp bundle quickstart --weights none -o small.tar.zst", "without parameters"},
               {"exp bundle show quickstart.tar.zst", "print what it holds and what it lacks"}}})
      .option("output,o", &R::output, "FILE", "the file to write, NAME.tar.zst")
      .flag("data", &R::data, "also pack the files that the runs read")
      .flag("private", &R::take_private,
            "also pack data, vocabulary, labels and predictions of runs with [data] private = true")
      .option("weights", &R::weights, "WHICH",
              "none; best: the best checkpoint of each run; all: also every other checkpoint")
      .option("sources", &R::sources, "DIR", "a folder with the sources of a plugin (may be repeated)")
      .option("licence", &R::licence, "TEXT", "licence of the bundle, such as CC-BY-4.0")
      .option("author", &R::author, "NAME", "names of the authors, separated by commas")
      .flag("json", &R::json, "print a summary as JSON")
      .flag("quiet,q", &R::quiet, "print neither progress nor a summary (--json still prints)")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.output.empty())
          return std::string("exp bundle needs -o FILE") + bundle_ending +
                 " (exp bundle -h shows an example)";
        if (!request.output.ends_with(bundle_ending))
          return "-o " + request.output + " does not end in " + bundle_ending +
                 ", the ending by which exp verify recognises a bundle";
        if (request.weights != "none" && request.weights != "best" && request.weights != "all")
          return "invalid --weights \"" + request.weights + "\": expected none, best or all";
        return "";
      });
}

Form<BundleShowRequest> bundle_show_form() {
  using R = BundleShowRequest;
  return Form<R>(
             "bundle show",
             {"bundle show FILE [options]",
              "Unpacks the bundle into a temporary folder, copies its rows into a new database, computes "
              "derived values again, and prints all values in three classes: recomputed now, proved by "
              "training again, claimed by the sender. Executes nothing from the bundle. Exit code 2: the "
              "file is damaged, contradicts itself, or is not a bundle.",
              {{"exp bundle show quickstart.tar.zst", "runs, data, code and plugins"},
               {"exp bundle show quickstart.tar.zst --files", "also list every file"},
               {"exp bundle show quickstart.tar.zst --claims", "every value without proof in the bundle"},
               {"exp bundle show quickstart.tar.zst --report report.html",
                "write a report of the checked rows"},
               {"exp bundle show quickstart.tar.zst --diff", "print the changes to the recorded commit"}}})
      .flag("claims", &R::claims, "print every value that the sender claims")
      .option("report", &R::report, "FILE",
              "write a report of the checked rows as HTML; the report in the bundle is a claim")
      .flag("files", &R::files, "list every file")
      .flag("diff", &R::diff, "print only the changes to the recorded commits")
      .option("plugin-path", &R::plugin_path, "DIR",
              "a folder with the plugins of the runs (may be repeated); no plugin is loaded")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the files as CSV, or with --claims the claimed values")
      .exclude("json", "csv")
      .argument("file", &R::file, std::string("FILE") + bundle_ending);
}

Form<DbMergeRequest> db_merge_form() {
  using R = DbMergeRequest;
  return Form<R>("db merge",
                 {"db merge OTHER.db|FILE.tar.zst... [options]",
                  "Copies the runs of other databases and of bundles into this database, with their folders "
                  "(OTHER.db.runs beside each database); the sources are only read. A run that is already "
                  "here is recognised by its id and keeps the facts of both sides, so nothing is duplicated, "
                  "and a second call has nothing to do. Runs that are training, in either database, are left "
                  "out until they have ended. Exit code 1: something was left out.",
                  {{"exp db merge cluster.db", "copy the runs that were trained on a cluster"},
                   {"exp db merge a.db b.db --dry-run",
                    "show what would be copied, and which runs are in conflict"}}})
      .flag("dry-run,n", &R::dry_run, "only show what would be copied")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print every run as CSV")
      .exclude("json", "csv")
      .argument("database", &R::database)
      .refuse([](const R& request) -> std::string {
        if (!request.database.empty()) return "";
        return "exp db merge needs the file of another database or a bundle: exp db merge OTHER.db";
      });
}

}  // namespace encore::app
