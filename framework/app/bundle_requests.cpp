// The options of the verbs about bundles and other databases.
#include "app/bundle_requests.hpp"

#include "app/verify.hpp"

namespace encore {

Form<BundleRequest> bundle_form() {
  using R = BundleRequest;
  return Form<R>(
             "bundle",
             {"bundle RUN...|SEARCH -o FILE.tar.zst [options]",
              "Writes runs with all that shows what they are into one file: their rows in a database "
              "of its own, resolved settings, commit and changes, spools, digests, predictions, the "
              "parameters that were chosen, and the report. Of the data it says which they were; "
              "--data packs them. Somebody else checks it with exp verify FILE.tar.zst. For other "
              "programs it is an RO-Crate 1.1. exp bundle show FILE says what is in one.",
              {{"exp bundle quickstart -o quickstart.tar.zst", "a run, or all runs of a sweep or a search"},
               {"exp bundle quickstart --data -o quickstart.tar.zst",
                "with the files that it was trained on"},
               {"exp bundle quickstart --weights none -o small.tar.zst", "without parameters"},
               {"exp bundle show quickstart.tar.zst", "what is in it, and what is not"}}})
      .option("output,o", &R::output, "FILE", "the file to write, NAME.tar.zst")
      .flag("data", &R::data, "pack the files that the runs read, too")
      .flag("private", &R::take_private,
            "of runs with [data] private = true too: data, vocabulary, labels and predictions")
      .option("weights", &R::weights, "WHICH",
              "none; best: the parameters that each run has chosen; all: and every checkpoint it keeps")
      .option("sources", &R::sources, "DIR", "a folder with the sources of a plugin (may be repeated)")
      .option("licence", &R::licence, "TEXT", "under which the bundle may be used, such as CC-BY-4.0")
      .option("author", &R::author, "NAME", "who made the bundle, or several names with commas")
      .flag("json", &R::json, "what was written, as JSON")
      .flag("quiet,q", &R::quiet, "print neither progress nor what was written, except as JSON")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.output.empty())
          return std::string("exp bundle needs -o FILE") + bundle_ending +
                 " (exp bundle -h shows an example)";
        if (!request.output.ends_with(bundle_ending))
          return "-o " + request.output + " does not end in " + bundle_ending +
                 ", by which exp verify knows a bundle";
        if (request.weights != "none" && request.weights != "best" && request.weights != "all")
          return "--weights \"" + request.weights + "\" is none of none, best and all";
        return "";
      });
}

Form<BundleShowRequest> bundle_show_form() {
  using R = BundleShowRequest;
  return Form<R>(
             "bundle show",
             {"bundle show FILE [options]",
              "Unpacks the bundle into a temporary folder, copies its rows into a database of this "
              "program, derives again what follows from other parts, and prints its values in three "
              "classes: recomputed now, proved by training again, claimed by the sender. Nothing of it "
              "is executed. Exit code 2: the file is damaged, contradicts itself, or is no bundle.",
              {{"exp bundle show quickstart.tar.zst", "runs, data, code and plugins"},
               {"exp bundle show quickstart.tar.zst --files", "and every file"},
               {"exp bundle show quickstart.tar.zst --claims", "every value that nothing in it proves"},
               {"exp bundle show quickstart.tar.zst --report report.html", "a report of the checked rows"},
               {"exp bundle show quickstart.tar.zst --diff", "what was changed in the recorded commit"}}})
      .flag("claims", &R::claims, "print every value that the sender claims")
      .option("report", &R::report, "FILE",
              "write a report of the checked rows, as HTML; the one in the bundle is a claim")
      .flag("files", &R::files, "list every file")
      .flag("diff", &R::diff, "print what was changed in the recorded commits, and nothing else")
      .option("plugin-path", &R::plugin_path, "DIR",
              "a folder with plugins whose types the runs have (may be repeated); none of them is loaded")
      .flag("json", &R::json, "as JSON")
      .argument("file", &R::file, std::string("FILE") + bundle_ending);
}

Form<DbMergeRequest> db_merge_form() {
  using R = DbMergeRequest;
  return Form<R>(
             "db merge",
             {"db merge OTHER.db|FILE.tar.zst... [options]",
              "Brings the runs of other databases and of bundles into this one, with their folders "
              "(OTHER.db.runs beside each database); the others are only read. A run that is here "
              "already is recognised by its id, and what is known of it on either side is kept: "
              "nothing is doubled, and the same call again has nothing to do. Runs that are being "
              "trained, here or there, are left out until they have ended. Exit code 1: something was "
              "left out.",
              {{"exp db merge cluster.db", "take over what was trained on a cluster"},
               {"exp db merge a.db b.db --dry-run", "what would come, and which runs exclude each other"}}})
      .flag("dry-run,n", &R::dry_run, "only show it")
      .flag("json", &R::json, "as JSON")
      .argument("database", &R::database)
      .refuse([](const R& request) -> std::string {
        if (!request.database.empty()) return "";
        return "exp db merge needs the file of another database or a bundle: exp db merge OTHER.db";
      });
}

}  // namespace encore
