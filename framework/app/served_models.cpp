// SPDX-License-Identifier: BSD-3-Clause
// served_models(): finds the models of `exp serve`, for cli/serve_verb.cpp at its start and at each SIGHUP.
// Folders and bundles need no database. Their plugins come only from the build and from --plugin-path, never
// from the folders in their specifications, because a bundle may come from a stranger; this must stay. Read
// next: served_models.hpp.
#include "app/served_models.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "app/verify.hpp"
#include "archive/bundled_run.hpp"
#include "base/terminal_text.hpp"
#include "config/experiment.hpp"
#include "record/run_paths.hpp"
#include "review/queue.hpp"
#include "runner/places.hpp"
#include "runner/programs.hpp"
#include "store/lineage.hpp"
#include "world/cores.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Returns two, so that one worker serves while the other restarts; two processes with one thread are also
/// faster than one with two threads. A GPU is not shared.
int default_workers(const world::Cores& cores, const std::string& backend) {
  return runner::computes_on_host(backend) ? std::min(2, world::default_threads(cores, {})) : 1;
}

/// Returns the place of each worker. Threads are not pinned, because this program and the workers of other
/// models use the same cores.
std::vector<runner::WorkerPlace> places_of(const ServingRequest& request, const std::string& backend) {
  const world::Cores cores = world::usable_cores();
  const int asked = request.workers;
  std::vector<runner::WorkerPlace> places =
      runner::make_places(cores, {.workers = asked > 0 ? asked : default_workers(cores, backend),
                                  .threads = request.model.threads,
                                  .wishes = world::openmp_wishes(),
                                  .backend = backend});
  for (runner::WorkerPlace& place : places)
    for (const char* pin : {"OMP_PROC_BIND", "OMP_PLACES"}) place.variables.erase(pin);
  return places;
}

// --- a run of the database ---

serve::ServedRun stored_model(const ServingRequest& request, const App& app, store::Store& store,
                              const store::RunRow& row) {
  std::vector<std::string> lineage;
  for (const store::RunRow& run : store::lineage_of(store, row)) lineage.push_back(run.name);
  const std::string backend = request.model.backend.value_or(row.backend);
  require_own_weights(row, request.model);
  const TrainedRun run = find_trained_run(store, row, backend, Takes::applications);
  return {.name = run.name,
          .worker = run.worker,
          .arguments = worker_arguments(app, request.model, run, "serve", {}),
          .places = places_of(request, backend),
          .id = row.id,
          .lineage = std::move(lineage),
          .folder = run.folder};
}

// --- models in files ---

/// A word of the command line that names a bundle: "two.tar.zst:0f3a" means one run of it, "two.tar.zst" its
/// only run.
struct BundleWord {
  std::string archive, run;
};

std::optional<BundleWord> bundle_word(const std::string& word) {
  const std::string ending = bundle_ending;
  if (word.ends_with(ending)) return BundleWord{.archive = word, .run = {}};
  const std::size_t end = word.rfind(ending + ":");
  if (end == std::string::npos) return {};
  const std::size_t colon = end + ending.size();
  return BundleWord{.archive = word.substr(0, colon), .run = word.substr(colon + 1)};
}

/// Returns whether a word means a folder. Names of runs have no slash, so a word without a slash means a
/// folder only if no run has this name.
bool names_folder(const App& app, const std::string& word) {
  std::error_code none;
  return word.find('/') != std::string::npos || (fs::is_directory(word, none) && !means_run(app, word));
}

/// Loads a specification that may come from a stranger. Throws Error that begins with `origin`, also if no
/// plugin has a type that it needs; nothing has started then.
record::Specification checked_specification(const fs::path& folder, const config::Catalogue& catalogue,
                                            const std::string& origin) {
  record::Specification specification = record::Specification::load(folder);
  if (specification.name.empty() || printable(specification.name) != specification.name)
    throw Error(origin + ": invalid name of the run in specification.json: expected printable text");
  try {
    config::needed_types(specification.config, catalogue, specification.origin);
  } catch (const Error& error) {
    throw Error(origin + ": " + error.what());
  }
  return specification;
}

serve::ServedRun model_in(const ServingRequest& request, const fs::path& folder, const std::string& origin) {
  record::require_run_folder(folder);
  const runner::Programs programs = runner::installed_programs();
  const std::string backend = backend_of(request.model.backend, programs);
  const fs::path worker = runner::worker_program(programs, backend);
  const std::vector<fs::path> searched =
      runner::plugin_search_path({}, request.model.plugin_path, programs, backend);
  const config::Catalogue catalogue =
      config::Catalogue::load(searched, runner::fingerprint_of(programs, backend));
  std::vector<std::string> plugin_folders;
  for (const fs::path& each : searched) plugin_folders.push_back(each.string());
  const std::string name = checked_specification(folder, catalogue, origin).name;
  return {.name = name,
          .worker = worker,
          .arguments = worker_arguments(request.model, fs::absolute(folder), plugin_folders, "serve", {}),
          .places = places_of(request, backend),
          .lineage = {name},
          .folder = folder};
}

serve::ServedRun model_of(const ServingRequest& request, const App& app, const BundleWord& word) {
  const ProgressEnd end{app.events};
  const auto bundled = std::make_shared<const archive::BundledRun>(
      word.archive, word.run, "choose one with " + word.archive + ":ID",
      [&](std::size_t done, std::size_t all) {
        if (HeldSignals::waiting()) throw Error("ended by a signal");
        app.events.progressed("unpacked", done, all, "files");
      });
  try {
    serve::ServedRun model = model_in(request, bundled->folder(), word.archive);
    model.files = bundled;
    return model;
  } catch (const Error& error) {
    throw Error(bundled->named(error.what()));
  }
}

/// Throws UsageError unless the application of the review queue, or a retrained one, is among the models.
void require_reviewed(const ServingRequest& request, const std::vector<serve::ServedRun>& models) {
  if (request.review.empty()) return;
  const review::Queue queue(request.review);
  const std::string& name = queue.settings().application;
  if (std::ranges::none_of(models, [&](const serve::ServedRun& model) {
        return std::ranges::find(model.lineage, name) != model.lineage.end();
      }))
    throw UsageError("the review queue " + request.review + " is of application " + name +
                     ", which is not served; serve it, or leave out --review");
}

void require_database(const ServingRequest& request, const std::string& word) {
  if (request.monitor)
    throw UsageError("--monitor stores its numbers with a run of a database, but " + word +
                     " is not such a run; serve the run itself, or remove --monitor");
}

/// The models, keyed by name.
class Models {
 public:
  void add(serve::ServedRun model, const std::string& origin) {
    const auto [known, is_new] = origins_.emplace(model.name, origin);
    if (!is_new)
      throw UsageError(known->second + " and " + origin + " have the same name, \"" + model.name +
                       "\", but requests choose a model by its name; serve only one of them");
    all_.push_back(std::move(model));
  }
  std::vector<serve::ServedRun> take() { return std::move(all_); }

 private:
  std::map<std::string, std::string> origins_;
  std::vector<serve::ServedRun> all_;
};

}  // namespace

std::vector<serve::ServedRun> served_models(const ServingRequest& request, const App& app) {
  std::vector<std::string> run_words, file_words;
  for (const std::string& word : request.selection.runs)
    (bundle_word(word) || names_folder(app, word) ? file_words : run_words).push_back(word);
  for (const std::string& word : file_words) require_database(request, word);
  Models models;
  const store::RunSelection selection = selection_from(request.selection, run_words);
  if (file_words.empty() || !run_words.empty() || selection.narrows()) {
    store::Store store(app.database, store::OpenMode::read);
    for (const store::RunRow& row : selected_runs(app, store, selection).runs)
      models.add(stored_model(request, app, store, row), "run " + row.name);
  }
  for (const std::string& word : file_words) {
    const std::optional<BundleWord> bundle = bundle_word(word);
    models.add(bundle ? model_of(request, app, *bundle) : model_in(request, word, word), word);
  }
  std::vector<serve::ServedRun> all = models.take();
  require_reviewed(request, all);
  return all;
}

std::string names_of(const std::vector<serve::ServedRun>& models) {
  std::string names;
  for (const serve::ServedRun& model : models) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace encore::app
