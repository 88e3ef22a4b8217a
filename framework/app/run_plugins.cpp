// SPDX-License-Identifier: BSD-3-Clause
// Finds trained runs and their plugins for evaluate, predict and other verbs, and refuses plugin folders that
// the user has not chosen, because a plugin is code and a run folder may come from a stranger. The list of
// trusted plugins (~/.local/state/encore/trusted_plugins, lines as sha256sum writes them) is a stored format.
// Callers are in run_plugins.hpp; tests/system/control/plugin_trust_test.cpp holds the rules. Read next:
// run_plugins.hpp.
#include "app/run_plugins.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "app/plugin_changes.hpp"
#include "base/input_file.hpp"
#include "base/sha256.hpp"
#include "config/core_schema.hpp"
#include "config/experiment.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"
#include "runner/programs.hpp"
#include "world/cores.hpp"
#include "world/file_descriptor.hpp"

namespace encore::app {

namespace {

std::filesystem::path list_file() {
  const auto folder = [](const char* name) {
    const char* text = std::getenv(name);
    return std::filesystem::path(text == nullptr ? "" : text);
  };
  std::filesystem::path state = folder("XDG_STATE_HOME");
  if (!state.is_absolute() && folder("HOME").is_absolute()) state = folder("HOME") / ".local/state";
  return state.is_absolute() ? state / "encore/trusted_plugins" : std::filesystem::path();
}

/// Returns the line of a plugin in the list, or "" if its path does not fit into a line.
std::string line_of(const UsedPlugin& plugin) {
  std::error_code failure;
  const std::string path = std::filesystem::weakly_canonical(plugin.file, failure).string();
  if (failure || path.find('\n') != std::string::npos) return {};
  return plugin.sha256 + "  " + path;
}

/// The plugin files that this user has allowed, by SHA-256 and path. The list is in the user's home, so a
/// foreign run folder or database cannot add to it.
class TrustedPlugins {
 public:
  /// Reads ${XDG_STATE_HOME:-~/.local/state}/encore/trusted_plugins, lines as sha256sum writes them; a
  /// missing file is an empty list.
  TrustedPlugins();

  bool contains(const UsedPlugin& plugin) const;
  /// Appends new plugins. Without a writable home nothing is stored, and a stored run asks again.
  void add(const std::vector<UsedPlugin>& plugins);

 private:
  std::filesystem::path file_;  ///< empty: there is no home
  std::set<std::string> lines_;
};

TrustedPlugins::TrustedPlugins() : file_(list_file()) {
  std::error_code absent;
  if (!std::filesystem::exists(file_, absent)) return;
  std::istringstream in(read_file(file_));
  for (std::string line; std::getline(in, line);) lines_.insert(line);
}

bool TrustedPlugins::contains(const UsedPlugin& plugin) const {
  return lines_.contains(line_of(plugin));
}

void TrustedPlugins::add(const std::vector<UsedPlugin>& plugins) {
  std::string text;
  for (const UsedPlugin& plugin : plugins)
    if (const std::string line = line_of(plugin); !line.empty() && lines_.insert(line).second)
      text += line + '\n';
  if (text.empty() || file_.empty()) return;
  try {
    std::filesystem::create_directories(file_.parent_path());
    // One write appends all lines, because other processes may append at the same time.
    const world::FileDescriptor file = world::open_file(file_, O_WRONLY | O_CREAT | O_APPEND, 0600);
    world::write_all(file.get(), std::as_bytes(std::span(text)), file_.string());
  } catch (const std::exception&) {
    // Training continues if the home is not writable.
  }
}

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

/// Returns the plugin folders from the plan of the run, without those of a build: the last folder, and
/// folders named like its backend.
Folders named_in(const record::Specification& specification) {
  Folders named(specification.plugin_folders.begin(), specification.plugin_folders.end());
  if (!named.empty()) named.pop_back();
  const Folders all = named;
  std::erase_if(named, [&](const fs::path& folder) {
    return folder.filename() == specification.backend &&
           std::ranges::find(all, folder.parent_path()) != all.end();
  });
  return named;
}

Folders without_repetitions(const Folders& folders) {
  Folders once;
  for (const fs::path& folder : folders)
    if (std::ranges::find(once, folder) == once.end()) once.push_back(folder);
  return once;
}

/// Returns whether the file is directly in one of the folders, however their paths are spelled.
bool lies_in(const Folders& folders, const fs::path& file) {
  return std::ranges::any_of(folders, [&](const fs::path& folder) {
    std::error_code missing;
    return fs::equivalent(folder, file.parent_path(), missing);
  });
}

/// Returns the specifications of the runs that the steps of an application ask. Those that cannot be read are
/// left out: the worker, which loads their plugins, refuses them.
std::vector<record::Specification> asked_models(const record::Specification& specification) {
  std::vector<record::Specification> models;
  for (const auto& [role, file] : specification.data) {
    if (config::step_in(role).empty()) continue;
    try {
      models.push_back(record::Specification::load(fs::path(file.path).parent_path()));
    } catch (const Error&) {
    }
  }
  return models;
}

/// Returns the plugins that the specification needs from outside of `folders`.
std::vector<UsedPlugin> plugins_outside(const Folders& folders, const record::Specification& specification,
                                        const config::Catalogue& catalogue) {
  std::vector<UsedPlugin> found;
  std::vector<config::TypeName> types =
      config::needed_types(specification.config, catalogue, specification.origin);
  for (const record::Specification& model : asked_models(specification))
    for (config::TypeName& type : config::needed_types(model.config, catalogue, model.origin))
      types.push_back(std::move(type));
  for (const config::TypeName& type : types) {
    const config::Manifest* owner = catalogue.owner(type.kind, type.name);
    if (owner == nullptr || lies_in(folders, owner->file)) continue;
    const fs::path file = owner->library_path();
    if (std::ranges::find(found, file, &UsedPlugin::file) == found.end())
      found.push_back({owner->name, owner->version, sha256_of_file(file), file});
  }
  return found;
}

/// Returns the plugins of the newest attempt that recorded any.
std::vector<store::PluginRow> recorded_plugins(store::Store& store, const store::RunRow& run) {
  std::vector<store::PluginRow> plugins;
  for (store::AttemptRow& attempt : store.read_attempts(run.number))
    if (!attempt.plugins.empty()) plugins = std::move(attempt.plugins);
  return plugins;
}

/// Returns a notice if the run was trained with another file. Returns "" if the file is the same, or if
/// nothing is recorded.
std::string trained_with(const UsedPlugin& plugin, const std::vector<store::PluginRow>& recorded) {
  const auto before = std::ranges::find(recorded, plugin.name, &store::PluginRow::name);
  if (before == recorded.end() || before->sha256 == plugin.sha256) return {};
  return "the run was trained with another file, " + before->version + " (" + short_hash(before->sha256) +
         ")";
}

std::string question_text(const store::RunRow& run, const std::vector<UsedPlugin>& strange,
                          const std::vector<store::PluginRow>& recorded) {
  std::string text = "run " + run.name + " needs to load code that you have not used before:";
  for (const UsedPlugin& plugin : strange) {
    const std::string change = trained_with(plugin, recorded);
    text += "\n  plugin \"" + plugin.name + "\" " + plugin.version + " (" + short_hash(plugin.sha256) +
            "), " + plugin.file.string() + (change.empty() ? "" : "; " + change);
  }
  return text + "\nThe run's specification.json names it. A plugin is code and runs with your permissions.";
}

/// Returns the option that allows these plugins.
std::string remedy(const std::vector<UsedPlugin>& strange) {
  Folders folders;
  for (const UsedPlugin& plugin : strange) folders.push_back(plugin.file.parent_path());
  std::string text = " To allow it:";
  for (const fs::path& folder : without_repetitions(folders)) text += " --plugin-path " + folder.string();
  return text;
}

void require_trusted(const App& app, const store::RunRow& run, const std::vector<UsedPlugin>& outside,
                     const std::vector<store::PluginRow>& recorded) {
  TrustedPlugins trusted;
  std::vector<UsedPlugin> strange = outside;
  std::erase_if(strange, [&](const UsedPlugin& plugin) { return trusted.contains(plugin); });
  if (strange.empty()) return;
  const std::string text = question_text(run, strange, recorded);
  if (!app.events.can_ask()) throw Error(text + remedy(strange));
  if (!app.events.agrees(text + "\nLoad it, now and later?")) throw Error("nothing was loaded");
  trusted.add(strange);
}

}  // namespace

Form<ModelRequest> model_options() {
  using R = ModelRequest;
  return Form<R>()
      .option("backend", &R::backend, "NAME", "openmp, serial, cuda or hip (default: backend of the run)")
      .option("plugin-path", &R::plugin_path, "DIR", run_plugin_help)
      .option("threads,t", &R::threads, "N", "threads; 0: all CPUs of this process")
      .refuse([](const R& request) {
        world::require_threads(request.threads);
        return std::string();
      });
}

Form<ModelRequest> weights_options() {
  using R = ModelRequest;
  return model_options()
      .flag("int8", &R::int8, "use the 8-bit weights of exp quantize")
      .flag("int4", &R::int4, "use the 4-bit weights of exp quantize --bits 4")
      .exclude("int8", "int4", "--int8 and --int4 exclude each other");
}

TrainedRun find_trained_run(const store::Store& store, const store::RunRow& run,
                            const std::optional<std::string>& backend, Takes takes) {
  const fs::path folder = store.run_folder(run.id);
  std::error_code ignored;
  if (is_application(run)) {
    if (takes != Takes::applications)
      throw UsageError("run " + run.name +
                       " is an application, which has no model of its own; exp predict, evaluate and serve "
                       "take it, and the runs that its steps ask (exp show " +
                       run.name + " names them) can do everything else");
    if (!fs::exists(folder / record::application_file, ignored))
      throw Error("application " + run.name + " (" + store::name_of(run.state) + ") has no " +
                  record::application_file + " in " + folder.string() +
                  (run.state == store::RunState::completed ? "; was its folder removed?" : "; run it first"));
  } else if (!fs::exists(folder / record::weights_file, ignored) &&
             record::list_checkpoints(folder).empty()) {
    throw Error("run " + run.name + " (" + store::name_of(run.state) + ") has no checkpoint in " +
                folder.string() +
                (run.state == store::RunState::completed ? "; was its folder removed?" : "; train it first"));
  }
  return {run.name, folder,
          runner::worker_program(runner::installed_programs(), backend.value_or(run.backend))};
}

std::vector<std::string> run_plugin_folders(const App& app, const std::vector<std::string>& plugin_path,
                                            store::Store& store, const store::RunRow& run,
                                            const record::Specification& specification,
                                            const std::string& backend) {
  const runner::Programs programs = runner::installed_programs();
  const Folders allowed = runner::plugin_search_path({}, plugin_path, programs, backend);
  const Folders searched =
      !plugin_path.empty()
          ? allowed
          : without_repetitions(runner::plugin_search_path(named_in(specification), {}, programs, backend));
  std::vector<std::string> folders;
  for (const fs::path& folder : searched) folders.push_back(folder.string());
  if (searched == Folders{runner::plugin_folder(programs, backend)}) return folders;

  const config::Catalogue catalogue =
      config::Catalogue::load(searched, runner::fingerprint_of(programs, backend));
  const std::vector<store::PluginRow> recorded = recorded_plugins(store, run);
  require_trusted(app, run, plugins_outside(allowed, specification, catalogue), recorded);
  const Folders build = {runner::plugin_folder(programs, backend)};
  for (const UsedPlugin& plugin : plugins_outside(build, specification, catalogue))
    if (const std::string change = trained_with(plugin, recorded); !change.empty())
      app.events.noticed("plugin \"" + plugin.name + "\" is " + plugin.version + " (" +
                         short_hash(plugin.sha256) + "), " + plugin.file.string() + "; " + change);
  return folders;
}

void require_own_weights(const store::RunRow& run, const ModelRequest& request) {
  if (is_application(run) && (request.int8 || request.int4))
    throw UsageError("run " + run.name +
                     " is an application, which has no weights of its own: remove --int8 and --int4");
}

TrainedRuns find_trained_runs(const App& app, const store::RunSelection& selection,
                              const std::optional<std::string>& backend, Takes takes) {
  store::Store store(app.database, store::OpenMode::read);
  const store::SelectedRuns selected = selected_runs(app, store, selection);
  TrainedRuns found{.runs = {}, .one = asks_for_one(selection, selected)};
  for (const store::RunRow& run : selected.runs)
    found.runs.push_back(find_trained_run(store, run, backend, takes));
  return found;
}

std::vector<std::string> worker_arguments(const App& app, const ModelRequest& request, const TrainedRun& run,
                                          const std::string& verb, const std::vector<std::string>& more) {
  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow row = store.find_run(run.name);
  return worker_arguments(
      request, run.folder,
      run_plugin_folders(app, request.plugin_path, store, row, record::Specification::load(run.folder),
                         request.backend.value_or(row.backend)),
      verb, more);
}

std::vector<std::string> worker_arguments(const ModelRequest& request, const fs::path& run_folder,
                                          const std::vector<std::string>& plugin_folders,
                                          const std::string& verb, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {verb, "--run-folder", run_folder.string()};
  for (const std::string& folder : plugin_folders)
    arguments.insert(arguments.end(), {"--plugin-folder", folder});
  arguments.insert(arguments.end(), more.begin(), more.end());
  if (request.int8) arguments.emplace_back("--int8");
  if (request.int4) arguments.emplace_back("--int4");
  return arguments;
}

void trust_plugins_of(const PlannedRuns& planned) {
  const Folders build = {runner::plugin_folder(runner::installed_programs(), planned.backend)};
  const auto is_outside = [&](const config::Manifest& manifest) { return !lies_in(build, manifest.file); };
  if (std::ranges::none_of(planned.catalogue.manifests(), is_outside)) return;
  TrustedPlugins trusted;
  PluginFiles files;
  for (const PlannedRun& run : planned.runs) {
    std::vector<UsedPlugin> used = files.used_by(run.specification, planned.catalogue);
    std::erase_if(used, [&](const UsedPlugin& plugin) { return lies_in(build, plugin.file); });
    trusted.add(used);
  }
}

}  // namespace encore::app
