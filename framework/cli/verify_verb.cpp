// verify: trains runs again and compares digests; the verdicts go into the database. What is asked is read
// here; verify_runs.hpp does it, bundle_verify.hpp that of a bundle.
#include "cli/bundle_verify.hpp"
#include "cli/planned_search.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/verbs.hpp"
#include "cli/verify_runs.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

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

}  // namespace

int verify_verb(const Arguments& arguments) {
  CommandLine line = make_verify_line();
  if (!line.parse(arguments)) return exit_done;
  require_threads(line.integer("threads"));
  check_rank_options(line);
  if (names_bundle(line)) return verify_bundle(line, arguments);
  refuse_bundle_options(line);

  Store store(line.database(), OpenMode::write);
  if (const auto search = named_search(store, line.texts("run"))) return verify_search(line, store, *search);
  const RunSelection selection = selection_from(line);
  const SelectedRuns selected = selected_runs(line, store, selection);
  return verify_runs(line, store, selected.runs, asks_for_one(selection, selected));
}

}  // namespace encore
