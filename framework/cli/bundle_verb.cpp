// bundle: runs with all that shows what they are, as one file for a reviewer. The layout is in
// archive/bundle_index.hpp; docs/bundles.md is for users.
#include <algorithm>
#include <cctype>
#include <iostream>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/shell_word.hpp"
#include "bundle/pack_bundle.hpp"
#include "cli/access.hpp"
#include "cli/bundle_text.hpp"
#include "cli/bundle_verb.hpp"
#include "cli/progress_line.hpp"
#include "cli/report_formats.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/verbs.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "store/searches.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

PackedWeights weights_from(const std::string& word) {
  if (word == "none") return PackedWeights::none;
  if (word == "best") return PackedWeights::best;
  if (word == "all") return PackedWeights::all;
  throw UsageError("--weights \"" + word + "\" is none of none, best and all");
}

/// What exp report writes about them.
std::string report_of(Store& store, RunSelection selection) {
  const Document document = make_report(store, {.runs = std::move(selection)});
  const std::vector<OutputFile> files =
      find_report_format("html", {}).write(document, ReportShape{.name = bundle_report});
  return files.front().bytes;
}

/// The runs themselves, where no word means them: those of a search.
RunSelection selection_of(const std::vector<RunRow>& runs) {
  RunSelection selection{.sight = Sight::any};
  for (const RunRow& run : runs) selection.words.push_back(run.id);
  return selection;
}

/// The runs of a search, those of its fresh seeds too, or those that the words mean.
SelectedRuns runs_of(const CommandLine& line, Store& store, const std::optional<SearchRow>& search) {
  const RunSelection selection = selection_from(line);
  if (!search) return selected_runs(line, store, selection);
  std::vector<RunRow> runs;
  const std::vector<TrialRow> trials = read_search(store, *search).trials;
  for (const auto of_trial : {&TrialRow::runs, &TrialRow::confirmations})
    for (const TrialRow& trial : trials)
      for (const std::int64_t number : trial.*of_trial) runs.push_back(store.read_run(number));
  if (runs.empty()) throw Error("search " + search->name + " has no run yet");
  return {.runs = std::move(runs)};
}

/// What a process that is gone has left in its spool belongs to the record too.
void settle(const CommandLine& line, Store& store, std::vector<RunRow>& runs) {
  if (std::ranges::find(runs, RunState::lost, &RunRow::state) == runs.end()) return;
  Store(line.database(), OpenMode::write).settle();
  for (RunRow& run : runs) run = store.read_run(run.number);
}

/// "run a"; "sweep b, 12 runs"; "search c, 9 runs"
std::string subject_of(const std::vector<RunRow>& runs, const std::string& named_sweep,
                       const std::optional<SearchRow>& search) {
  const std::string count = ", " + counted(runs.size(), "run");
  if (search) return "search " + search->name + count;
  if (runs.size() == 1) return "run " + runs.front().name;
  const std::string sweep = named_sweep.empty() ? runs.front().sweep : named_sweep;
  const bool one =
      !named_sweep.empty() ||
      (!sweep.empty() && std::ranges::all_of(runs, [&](const RunRow& run) { return run.sweep == sweep; }));
  return one ? "sweep " + sweep + count : counted(runs.size(), "run");
}

void print_packed(const CommandLine& line, const std::string& output, const PackedBundle& packed) {
  const std::string digest = sha256_of_file(output);
  if (line.flag("json")) {
    std::cout << Json{{"file", output},
                      {"bytes", fs::file_size(output)},
                      {"sha256", digest},
                      {"subject", packed.index.subject},
                      {"files", packed.index.files.size()},
                      {"unpacked_bytes", packed.index.bytes()},
                      {"parents", packed.parents},
                      {"private", packed.hidden},
                      {"not_completed", packed.not_ended}}
                     .dump(2)
              << '\n';
    return;
  }
  if (line.flag("quiet")) return;
  std::cout << output << "  " << bundle_line(packed.index) << "; " << bytes_text(fs::file_size(output))
            << " packed\n  sha256   " << digest << '\n';
  if (!packed.parents.empty())
    std::cout << "  with     " << listed(packed.parents) << ", from whose weights others start\n";
  if (!packed.hidden.empty())
    std::cout << "  without  data, vocabulary, labels and predictions of " << listed(packed.hidden)
              << ", whose data are private; --private takes them\n";
  if (!packed.not_ended.empty()) std::cout << "  not completed: " << listed(packed.not_ended) << '\n';
  std::cout << "  next     " << command_name() << ' ' << shell_command({"bundle", "show", output}) << '\n';
}

int make_bundle(const Arguments& arguments) {
  CommandLine line = make_bundle_line();
  if (!line.parse(arguments)) return exit_done;
  const std::string output = line.required("output", "-o FILE" + std::string(bundle_ending));
  if (!output.ends_with(bundle_ending))
    throw UsageError("-o " + output + " does not end in " + bundle_ending +
                     ", by which exp verify knows a bundle");
  if (fs::is_directory(output)) throw UsageError("-o " + output + " is a folder; name a file");

  Store store(line.database(), OpenMode::read);
  std::optional<SearchRow> search;
  if (!selection_from(line).narrows()) search = named_search(store, line.texts("run"));
  ProgressLine progress;
  PackTask task;
  SelectedRuns selected = runs_of(line, store, search);
  task.runs = std::move(selected.runs);
  settle(line, store, task.runs);
  if (search) task.searches = {search->name};
  task.subject = subject_of(task.runs, selected.sweep, search);
  task.licence = line.has("licence") ? line.text("licence") : "not stated";
  task.author = line.has("author") ? line.text("author") : "not stated";
  task.encore = ENCORE_VERSION;
  task.choice.weights = weights_from(line.text("weights"));
  task.choice.data = line.flag("data");
  task.choice.hidden = line.flag("private");
  for (const std::string& folder : line.texts("sources")) task.choice.sources.push_back(folder);
  task.catalogue = catalogue_here();
  task.report = report_of(store, search ? selection_of(task.runs) : selection_from(line));
  if (!line.flag("quiet"))
    task.progress = [&](std::size_t done, std::size_t all) { progress.show("packed", done, all, "files"); };
  print_packed(line, output, pack_bundle(store, task, output));
  return exit_done;
}

/// "bundle show FILE", but not "bundle show -o FILE.tar.zst", which packs a run called "show": packing needs
/// -o, and show has no such option.
bool asks_for_show(const Arguments& arguments) {
  const auto is_output = [](const std::string& word) {
    return word.starts_with("--output") || (word.starts_with("-o") && !word.starts_with("--"));
  };
  return !arguments.empty() && arguments.front() == "show" && std::ranges::none_of(arguments, is_output);
}

}  // namespace

int bundle_verb(const Arguments& arguments) {
  if (asks_for_show(arguments)) return show_bundle({arguments.begin() + 1, arguments.end()});
  return make_bundle(arguments);
}

}  // namespace encore
