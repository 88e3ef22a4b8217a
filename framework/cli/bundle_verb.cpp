// SPDX-License-Identifier: BSD-3-Clause
// exp bundle: packs runs with their evidence into one file for a reviewer (bundle/pack_bundle.hpp). It is
// linked into the program exp-report, which exp becomes for this verb (report_main.cpp). The layout of the
// file is in archive/bundle_index.hpp and must stay readable by other versions; docs/guides/bundles.md is
// for users. Here are only the selection of runs and the summary.
#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "app/bundle_requests.hpp"
#include "app/planned_search.hpp"
#include "base/sha256.hpp"
#include "base/shell_word.hpp"
#include "bundle/pack_bundle.hpp"
#include "cli/bundle_text.hpp"
#include "cli/components.hpp"
#include "cli/report_formats.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "store/searches.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

bundle::PackedWeights weights_from(const std::string& word) {
  if (word == "none") return bundle::PackedWeights::none;
  if (word == "best") return bundle::PackedWeights::best;
  return bundle::PackedWeights::all;
}

/// Returns the report of exp report about the runs.
std::string report_of(store::Store& store, store::RunSelection selection) {
  const document::Document document = report::make_report(store, {.runs = std::move(selection)});
  const std::vector<document::OutputFile> files =
      find_report_format("html", {}).write(document, ReportShape{.name = archive::bundle_report});
  return files.front().bytes;
}

/// Selects the given runs, for a search, whose runs no word means.
store::RunSelection selection_of(const std::vector<store::RunRow>& runs) {
  store::RunSelection selection{.sight = store::Sight::any};
  for (const store::RunRow& run : runs) selection.words.push_back(run.id);
  return selection;
}

/// Returns the runs of a search, with those of its fresh seeds, or the runs of the words.
store::SelectedRuns runs_of(const app::BundleRequest& request, const app::App& app, store::Store& store,
                            const std::optional<store::SearchRow>& search) {
  const store::RunSelection selection = app::selection_from(request.selection);
  if (!search) return app::selected_runs(app, store, selection);
  std::vector<store::RunRow> runs;
  const std::vector<store::TrialRow> trials = store::read_search(store, *search).trials;
  for (const auto of_trial : {&store::TrialRow::runs, &store::TrialRow::confirmations})
    for (const store::TrialRow& trial : trials)
      for (const std::int64_t number : trial.*of_trial) runs.push_back(store.read_run(number));
  if (runs.empty()) throw Error("search " + search->name + " has no runs yet");
  return {.runs = std::move(runs)};
}

/// Merges the spools of processes that have ended.
void settle(const app::App& app, store::Store& store, std::vector<store::RunRow>& runs) {
  if (std::ranges::find(runs, store::RunState::lost, &store::RunRow::state) == runs.end()) return;
  store::Store(app.database, store::OpenMode::write).settle();
  for (store::RunRow& run : runs) run = store.read_run(run.number);
}

/// Returns, for example, "run a", "sweep b, 12 runs" or "search c, 9 runs".
std::string subject_of(const std::vector<store::RunRow>& runs, const std::string& named_sweep,
                       const std::optional<store::SearchRow>& search) {
  const std::string count = ", " + counted(runs.size(), "run");
  if (search) return "search " + search->name + count;
  if (runs.size() == 1) return "run " + runs.front().name;
  const std::string sweep = named_sweep.empty() ? runs.front().sweep : named_sweep;
  const bool one = !named_sweep.empty() ||
                   (!sweep.empty() &&
                    std::ranges::all_of(runs, [&](const store::RunRow& run) { return run.sweep == sweep; }));
  return one ? "sweep " + sweep + count : counted(runs.size(), "run");
}

void print_packed(const app::BundleRequest& request, Console& console, const bundle::PackedBundle& packed) {
  const std::string& output = request.output;
  const std::string digest = sha256_of_file(output);
  if (request.json) {
    console.print({{"file", output},
                   {"bytes", fs::file_size(output)},
                   {"sha256", digest},
                   {"subject", packed.index.subject},
                   {"files", packed.index.files.size()},
                   {"unpacked_bytes", packed.index.bytes()},
                   {"parents", packed.parents},
                   {"private", packed.hidden},
                   {"not_completed", packed.not_ended}});
    return;
  }
  if (request.quiet) return;
  console.out << output << "  " << bundle_line(packed.index) << "; " << bytes_text(fs::file_size(output))
              << " packed\n  sha256   " << digest << '\n';
  if (!packed.parents.empty())
    console.out << "  with     " << listed(packed.parents) << ", whose weights others start from\n";
  if (!packed.hidden.empty())
    console.out << "  without  data, vocabulary, labels and predictions of " << listed(packed.hidden)
                << ", whose data are private; --private includes them\n";
  if (!packed.not_ended.empty()) console.out << "  not completed: " << listed(packed.not_ended) << '\n';
  console.out << "  next     " << command_name() << ' ' << shell_command({"bundle", "show", output}) << '\n';
}

int bundle(const app::BundleRequest& request, app::App& app, Console& console) {
  if (fs::is_directory(request.output))
    throw app::UsageError("-o " + request.output + " is a folder; name a file");
  const store::RunSelection selection = app::selection_from(request.selection);
  store::Store store(app.database, store::OpenMode::read);
  std::optional<store::SearchRow> search;
  if (!selection.narrows()) search = app::named_search(store, request.selection.runs);
  bundle::PackTask task;
  store::SelectedRuns selected = runs_of(request, app, store, search);
  task.runs = std::move(selected.runs);
  settle(app, store, task.runs);
  if (search) task.searches = {search->name};
  task.subject = subject_of(task.runs, selected.sweep, search);
  task.licence = request.licence.value_or("not stated");
  task.author = request.author.value_or("not stated");
  task.encore = ENCORE_VERSION;
  task.choice.weights = weights_from(request.weights);
  task.choice.data = request.data;
  task.choice.hidden = request.take_private;
  for (const std::string& folder : request.sources) task.choice.sources.push_back(folder);
  task.catalogue = catalogue_here();
  task.report = report_of(store, search ? selection_of(task.runs) : selection);
  const app::ProgressEnd end{app.events};
  if (!request.quiet)
    task.progress = [&](std::size_t done, std::size_t all) {
      app.events.progressed("packed", done, all, "files");
    };
  print_packed(request, console, bundle::pack_bundle(store, task, request.output));
  return exit_done;
}

}  // namespace

Verb bundle_of_component() {
  return make_verb("bundle", "", app::bundle_form, bundle);
}

}  // namespace encore::cli
