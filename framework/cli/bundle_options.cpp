// The options of the verbs about bundles: bundle, bundle show, db merge, and verify, which takes runs and
// bundles. Their work is done by exp-report (components.hpp), that of verify only for bundles.
#include <algorithm>

#include "cli/bundle_verify.hpp"
#include "cli/components.hpp"
#include "cli/db_verb.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_selection.hpp"

namespace encore {

namespace {

constexpr const char* bundle_options[] = {"data", "clone", "report"};
constexpr const char* bundle_switches[] = {"build", "with-diff"};

/// "bundle show FILE", but not "bundle show -o FILE.tar.zst", which packs a run called "show": packing needs
/// -o, and show has no such option.
bool asks_for_show(const Arguments& arguments) {
  const auto is_output = [](const std::string& word) {
    return word.starts_with("--output") || (word.starts_with("-o") && !word.starts_with("--"));
  };
  return !arguments.empty() && arguments.front() == "show" && std::ranges::none_of(arguments, is_output);
}

}  // namespace

CommandLine make_bundle_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "bundle",
      {"bundle RUN...|SEARCH -o FILE.tar.zst [options]",
       "Writes runs with all that shows what they are into one file: their rows in a database of its own, "
       "resolved settings, commit and changes, spools, digests, predictions, the parameters that were "
       "chosen, and the report. Of the data it says which they were; --data packs them. Somebody else checks "
       "it with exp verify FILE.tar.zst. For other programs it is an RO-Crate 1.1. exp bundle show FILE says "
       "what is in one.",
       {{"exp bundle quickstart -o quickstart.tar.zst", "a run, or all runs of a sweep or a search"},
        {"exp bundle quickstart --data -o quickstart.tar.zst", "with the files that it was trained on"},
        {"exp bundle quickstart --weights none -o small.tar.zst", "without parameters"},
        {"exp bundle show quickstart.tar.zst", "what is in it, and what is not"}}});
  line.options()("output,o", po::value<std::string>()->value_name("FILE"), "the file to write, NAME.tar.zst");
  line.options()("data", po::bool_switch(), "pack the files that the runs read, too");
  line.options()("private", po::bool_switch(),
                 "of runs with [data] private = true too: data, vocabulary, labels and predictions");
  line.options()("weights", po::value<std::string>()->value_name("WHICH")->default_value("best"),
                 "none; best: the parameters that each run has chosen; all: and every checkpoint it keeps");
  line.options()("sources", po::value<std::vector<std::string>>()->value_name("DIR"),
                 "a folder with the sources of a plugin (may be repeated)");
  line.options()("licence", po::value<std::string>()->value_name("TEXT"),
                 "under which the bundle may be used, such as CC-BY-4.0");
  line.options()("author", po::value<std::string>()->value_name("NAME"),
                 "who made the bundle, or several names with commas");
  line.options()("json", po::bool_switch(), "what was written, as JSON");
  line.options()("quiet,q", po::bool_switch(), "print neither progress nor what was written, except as JSON");
  add_run_arguments(line);
  return line;
}

CommandLine make_bundle_show_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "bundle show",
      {"bundle show FILE [options]",
       "Unpacks the bundle into a temporary folder, copies its rows into a database of this program, derives "
       "again what follows from other parts, and prints its values in three classes: recomputed now, proved "
       "by training again, claimed by the sender. Nothing of it is executed. Exit code 2: the file is "
       "damaged, contradicts itself, or is no bundle.",
       {{"exp bundle show quickstart.tar.zst", "runs, data, code and plugins"},
        {"exp bundle show quickstart.tar.zst --files", "and every file"},
        {"exp bundle show quickstart.tar.zst --claims", "every value that nothing in it proves"},
        {"exp bundle show quickstart.tar.zst --report report.html", "a report of the checked rows"},
        {"exp bundle show quickstart.tar.zst --diff", "what was changed in the recorded commit"}}});
  line.options()("claims", po::bool_switch(), "print every value that the sender claims");
  line.options()("report", po::value<std::string>()->value_name("FILE"),
                 "write a report of the checked rows, as HTML; the one in the bundle is a claim");
  line.options()("files", po::bool_switch(), "list every file");
  line.options()("diff", po::bool_switch(),
                 "print what was changed in the recorded commits, and nothing else");
  line.options()("plugin-path", po::value<std::vector<std::string>>()->value_name("DIR"),
                 "a folder with plugins whose types the runs have (may be repeated); none of them is loaded");
  line.options()("json", po::bool_switch(), "as JSON");
  line.positional("file");
  return line;
}

CommandLine make_db_merge_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "db merge",
      {"db merge OTHER.db|FILE.tar.zst... [options]",
       "Brings the runs of other databases and of bundles into this one, with their folders (OTHER.db.runs "
       "beside each database); the others are only read. A run that is here already is recognised by its id, "
       "and what is known of it on either side is kept: nothing is doubled, and the same call again has "
       "nothing to do. Runs that are being trained, here or there, are left out until they have ended. Exit "
       "code 1: something was left out.",
       {{"exp db merge cluster.db", "take over what was trained on a cluster"},
        {"exp db merge a.db b.db --dry-run", "what would come, and which runs exclude each other"}}});
  line.options()("dry-run,n", boost::program_options::bool_switch(), "only show it");
  line.options()("json", boost::program_options::bool_switch(), "as JSON");
  line.positional("database", -1);
  return line;
}

CommandLine make_verify_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "verify",
      {"verify RUN...|SEARCH|BUNDLE [options]",
       "Trains a run again from its stored settings, vocabulary and data, in a folder of its own, and "
       "compares the digests of parameters and optimizer state, bit by bit. The run itself is not touched; "
       "the verdict is kept beside it (exp show RUN). Exit code 0: equal; 3: the bits differ, whether the "
       "numeric environment is the same (different) or not (not comparable). Of several runs one is trained "
       "after the other. Of a search every decision is made again from what it had seen; nothing is trained. "
       "BUNDLE is a file of exp bundle, NAME.tar.zst, with runs of it behind it (without: all of them). It "
       "is unpacked into a temporary folder, its parts are compared, and what is missing here is listed "
       "before anything is trained.",
       {{"exp verify quickstart", "every step, as it was trained"},
        {"exp verify quickstart --steps 10 --threads 2", "the first ten steps, on two threads"},
        {"exp verify quickstart --kill-at 3", "with a kill -9 after step 3, and going on from a checkpoint"},
        {"exp verify quickstart.tar.zst --data experiments",
         "what somebody else has bundled; its data are looked for in that folder"}}});
  const auto step = [] { return po::value<std::int64_t>()->value_name("STEP"); };
  line.options()("steps", po::value<std::int64_t>()->value_name("N"), "only the first N steps");
  line.options()("from-checkpoint", step(), "begin with the run's checkpoint of that step, if it is kept");
  line.options()("kill-at", step(), "kill -9 the verifying worker after that step, and go on");
  line.options()(
      "scores", po::bool_switch(),
      "train to the end, score dev and test as the run did, and compare every score (of a bundle it is "
      "done anyway)");
  line.options()("threads,t", po::value<int>()->value_name("N")->default_value(0),
                 "threads of the worker; 0: all this process may use");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: that of the run)");
  add_rank_options(line);
  add_run_plugin_option(line);
  line.options()("keep", po::bool_switch(), "keep the folder in which it was trained");
  add_bundle_options(line);
  line.options()("json", po::bool_switch(), "the verdict as JSON; a list where several runs are meant");
  line.options()("quiet,q", po::bool_switch(), "print only the verdict");
  add_run_arguments(line);
  return line;
}

void add_bundle_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()(
      "data", po::value<std::vector<std::string>>()->value_name("DIR"),
      "of a bundle: where its data are looked for (may be repeated; default: this folder and the tree of "
      "this program)");
  line.options()("report", po::value<std::string>()->value_name("FILE"),
                 "of a bundle: write a report of the checked rows, with the verdicts, as HTML");
  line.options()("build", po::bool_switch(),
                 "of a bundle: build the recorded commit, out of a clone, and verify with that");
  line.options()("clone", po::value<std::string>()->value_name("DIR"),
                 "the clone for --build (default: the tree of this program)");
  line.options()(
      "with-diff", po::bool_switch(),
      "with --build: apply what was changed in the commit, which is code of whoever made the bundle");
}

void refuse_bundle_options(const CommandLine& line) {
  for (const char* option : bundle_options)
    if (line.has(option))
      throw UsageError(std::string("--") + option + " is for bundles: exp verify NAME.tar.zst");
  for (const char* option : bundle_switches)
    if (line.flag(option))
      throw UsageError(std::string("--") + option + " is for bundles: exp verify NAME.tar.zst");
}

bool names_bundle(const CommandLine& line) {
  const std::vector<std::string> words = line.texts("run");
  return !words.empty() && words.front().ends_with(bundle_ending);
}

int bundle_verb(const Arguments& arguments) {
  if (!asks_for_show(arguments)) return run_in_component(make_bundle_line(), arguments);
  return run_in_component(make_bundle_show_line(), {arguments.begin() + 1, arguments.end()});
}

int db_merge(const Arguments& arguments) {
  return run_in_component(make_db_merge_line(), arguments);
}

}  // namespace encore
