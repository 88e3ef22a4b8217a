// See run_plugins.hpp.
#include "cli/run_plugins.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/sha256.hpp"
#include "cli/confirm.hpp"
#include "cli/trusted_plugins.hpp"
#include "config/experiment.hpp"
#include "runner/programs.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

/// As when the run was planned, but for what belongs to a build: the last folder, and those named like its
/// backend.
Folders named_in(const Specification& specification) {
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

/// However the folder is written.
bool lies_in(const Folders& folders, const fs::path& file) {
  return std::ranges::any_of(folders, [&](const fs::path& folder) {
    std::error_code missing;
    return fs::equivalent(folder, file.parent_path(), missing);
  });
}

/// What the specification needs from outside of `folders`.
std::vector<UsedPlugin> plugins_outside(const Folders& folders, const Specification& specification,
                                        const Catalogue& catalogue) {
  std::vector<UsedPlugin> found;
  for (const TypeName& type :
       needed_types(make_experiment(specification.config, catalogue, specification.origin))) {
    const Manifest* owner = catalogue.owner(type.kind, type.name);
    if (owner == nullptr || lies_in(folders, owner->file)) continue;
    const fs::path file = owner->library_path();
    if (std::ranges::find(found, file, &UsedPlugin::file) == found.end())
      found.push_back({owner->name, owner->version, sha256_of_file(file), file});
  }
  return found;
}

/// Those of the newest attempt that has any.
std::vector<PluginRow> recorded_plugins(Store& store, const RunRow& run) {
  std::vector<PluginRow> plugins;
  for (AttemptRow& attempt : store.read_attempts(run.number))
    if (!attempt.plugins.empty()) plugins = std::move(attempt.plugins);
  return plugins;
}

/// Empty where the file is the one the run was trained with, or nothing is known.
std::string trained_with(const UsedPlugin& plugin, const std::vector<PluginRow>& recorded) {
  const auto before = std::ranges::find(recorded, plugin.name, &PluginRow::name);
  if (before == recorded.end() || before->sha256 == plugin.sha256) return {};
  return "the run was trained with another file, " + before->version + " (" + short_hash(before->sha256) +
         ")";
}

std::string question_text(const RunRow& run, const std::vector<UsedPlugin>& strange,
                          const std::vector<PluginRow>& recorded) {
  std::string text = "run " + run.name + " would load code that you have not used before:";
  for (const UsedPlugin& plugin : strange) {
    const std::string change = trained_with(plugin, recorded);
    text += "\n  plugin \"" + plugin.name + "\" " + plugin.version + " (" + short_hash(plugin.sha256) +
            "), " + plugin.file.string() + (change.empty() ? "" : "; " + change);
  }
  return text + "\nspecification.json in the folder of the run names it; a plugin does whatever you may do.";
}

/// The option that allows them.
std::string remedy(const std::vector<UsedPlugin>& strange) {
  Folders folders;
  for (const UsedPlugin& plugin : strange) folders.push_back(plugin.file.parent_path());
  std::string text = " To allow it:";
  for (const fs::path& folder : without_repetitions(folders)) text += " --plugin-path " + folder.string();
  return text;
}

void require_trusted(const RunRow& run, const std::vector<UsedPlugin>& outside,
                     const std::vector<PluginRow>& recorded) {
  TrustedPlugins trusted;
  std::vector<UsedPlugin> strange = outside;
  std::erase_if(strange, [&](const UsedPlugin& plugin) { return trusted.contains(plugin); });
  if (strange.empty()) return;
  const std::string text = question_text(run, strange, recorded);
  if (::isatty(STDIN_FILENO) == 0) throw Error(text + remedy(strange));
  if (!ask(text + "\nLoad it, now and later?")) throw Error("nothing was loaded");
  trusted.add(strange);
}

}  // namespace

void add_model_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: that of the run)");
  add_run_plugin_option(line);
  line.options()("threads,t", po::value<int>()->value_name("N")->default_value(0),
                 "threads; 0: all this process may use");
}

void add_weights_option(CommandLine& line) {
  line.options()("int8", boost::program_options::bool_switch(),
                 "with the weights of 8-bit integers that exp quantize has written");
  line.options()("int4", boost::program_options::bool_switch(),
                 "with those of 4-bit integers, of exp quantize --bits 4");
}

void add_run_plugin_option(CommandLine& line) {
  line.options()("plugin-path", boost::program_options::value<std::vector<std::string>>()->value_name("DIR"),
                 "the folder with the run's plugins (may be repeated, or several with colons), in place of "
                 "those that it was trained with; plugins outside of the build are code that you trust");
}

std::vector<std::string> run_plugin_folders(const CommandLine& line, Store& store, const RunRow& run,
                                            const Specification& specification, const std::string& backend) {
  const Programs programs = installed_programs();
  const Folders allowed = plugin_search_path({}, line.texts("plugin-path"), programs, backend);
  const Folders searched =
      line.has("plugin-path")
          ? allowed
          : without_repetitions(plugin_search_path(named_in(specification), {}, programs, backend));
  std::vector<std::string> folders;
  for (const fs::path& folder : searched) folders.push_back(folder.string());
  if (searched == Folders{plugin_folder(programs, backend)}) return folders;

  const Catalogue catalogue = Catalogue::load(searched, fingerprint_of(programs, backend));
  const std::vector<PluginRow> recorded = recorded_plugins(store, run);
  require_trusted(run, plugins_outside(allowed, specification, catalogue), recorded);
  const Folders build = {plugin_folder(programs, backend)};
  for (const UsedPlugin& plugin : plugins_outside(build, specification, catalogue))
    if (const std::string change = trained_with(plugin, recorded); !change.empty())
      std::cerr << "exp: plugin \"" << plugin.name << "\" is " << plugin.version << " ("
                << short_hash(plugin.sha256) << "), " << plugin.file.string() << "; " << change << '\n';
  return folders;
}

TrainedRuns find_trained_runs(const CommandLine& line, const RunSelection& selection) {
  Store store(line.database(), OpenMode::read);
  const SelectedRuns selected = selected_runs(line, store, selection);
  TrainedRuns found{.runs = {}, .one = asks_for_one(selection, selected)};
  for (const RunRow& run : selected.runs)
    found.runs.push_back(find_trained_run(store, run, line.text("backend")));
  return found;
}

std::vector<std::string> worker_arguments(const CommandLine& line, const TrainedRun& run,
                                          const std::string& verb, const std::vector<std::string>& more) {
  Store store(line.database(), OpenMode::read);
  const RunRow row = store.find_run(run.name);
  return worker_arguments(line, run.folder,
                          run_plugin_folders(line, store, row, Specification::load(run.folder),
                                             line.has("backend") ? line.text("backend") : row.backend),
                          verb, more);
}

std::vector<std::string> worker_arguments(const CommandLine& line, const fs::path& run_folder,
                                          const std::vector<std::string>& plugin_folders,
                                          const std::string& verb, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {verb, "--run-folder", run_folder.string()};
  for (const std::string& folder : plugin_folders)
    arguments.insert(arguments.end(), {"--plugin-folder", folder});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto asks = [&](const char* option) { return line.has(option) && line.flag(option); };
  if (asks("int8") && asks("int4"))
    throw UsageError("--int8 and --int4 ask for two kinds of weights; give one of them");
  for (const std::string option : {"int8", "int4"})
    if (asks(option.c_str())) arguments.push_back("--" + option);
  return arguments;
}

void trust_plugins_of(const PlannedRuns& planned) {
  const Folders build = {plugin_folder(installed_programs(), planned.backend)};
  const auto is_outside = [&](const Manifest& manifest) { return !lies_in(build, manifest.file); };
  if (std::ranges::none_of(planned.catalogue.manifests(), is_outside)) return;
  TrustedPlugins trusted;
  PluginFiles files;
  for (const PlannedRun& run : planned.runs) {
    std::vector<UsedPlugin> used = files.used_by(run.specification, planned.catalogue);
    std::erase_if(used, [&](const UsedPlugin& plugin) { return lies_in(build, plugin.file); });
    trusted.add(used);
  }
}

}  // namespace encore
