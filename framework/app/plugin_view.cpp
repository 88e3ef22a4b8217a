// SPDX-License-Identifier: BSD-3-Clause
// `exp plugin ls` and `exp plugin info`: searches the plugin folders for manifests, and loads plugins only on
// request. cli/plugin_ls.cpp and cli/plugin_info.cpp call list_plugins() and find_plugins() and print the
// results. A manifest is data, a plugin is code: without --load no code of a plugin may run. Read next:
// plugin_view.hpp.
#include "app/plugin_view.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "app/worker_answer.hpp"
#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/experiment_file.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

namespace {

/// Throws NotBuilt if a plugin that ships is not built yet, of `kind` or without it of any kind.
PluginView read_plugin_view(const PluginViewRequest& request, std::optional<Kind> kind = {}) {
  const runner::Programs programs = runner::installed_programs();
  PluginView view;
  view.kind = kind;
  view.backend = backend_of(request.backend.backend, programs);
  runner::require_backend(view.backend);
  std::vector<std::filesystem::path> of_file;
  if (!request.file.empty()) of_file = config::plugin_folders(config::load_experiment_file(request.file));
  view.folders = runner::plugin_search_path(of_file, request.backend.plugin_path, programs, view.backend);
  view.catalogue = config::Catalogue::survey(view.folders, runner::fingerprint_of(programs, view.backend));
  view.catalogue.require_all_built(kind);
  for (const config::RefusedPlugin& plugin : view.catalogue.refused())
    view.refused.push_back({plugin.file.string(), plugin.reason});
  return view;
}

/// Reads the worker's answer after it loaded all plugins: see worker/plugins_verb.cpp.
void load_with_worker(PluginView& view) {
  const std::filesystem::path worker = runner::worker_program(runner::installed_programs(), view.backend);
  std::vector<std::string> arguments = {"plugins"};
  for (const std::filesystem::path& folder : view.folders) arguments.push_back(folder.string());
  const runner::ProgramOutput answer = runner::run_program(worker, arguments);
  const nlohmann::json told = json_or_null(answer.output);
  if (!answer.end.success() || !told.is_object())
    throw Error(worker.string() + " plugins ended with " + answer.end.text() +
                " while it loaded plugins; run exp plugin check FILE.so to find the plugin" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));
  try {
    auto loaded = from_json_object<record::PluginsAnswer>(told);
    view.load_milliseconds = loaded.milliseconds;
    view.refused = std::move(loaded.refused);
  } catch (const FieldError& error) {
    refuse_answer(worker, arguments, error);
  }
}

/// Returns why this is not a kind, or "".
std::string refusal_of_kind(const std::string& name) {
  const std::vector<std::string> names = config::names_of_kinds();
  if (std::ranges::find(names, name) != names.end()) return "";
  return "invalid --kind \"" + name + "\"" + did_you_mean(name, names, ": expected " + quoted_list(names));
}

/// Returns the plugins with this name or with a type of this name: a head and a schedule may both be
/// "linear".
std::vector<config::Manifest> find_named(const config::Catalogue& catalogue, const std::string& name) {
  std::vector<config::Manifest> found;
  std::set<std::string> names;
  for (const config::Manifest& manifest : catalogue.manifests()) {
    bool fits = manifest.name == name;
    names.insert(manifest.name);
    for (const config::ManifestOffer& offer : manifest.offers) {
      fits = fits || offer.name == name;
      names.insert(offer.name);
    }
    if (fits) found.push_back(manifest);
  }
  if (!found.empty()) return found;
  std::string text = "no plugin or type has the name \"" + name + "\"" +
                     did_you_mean(name, {names.begin(), names.end()}) + " (searched:";
  for (const std::filesystem::path& folder : catalogue.folders()) text += " " + folder.string();
  text += ")";
  for (const config::RefusedPlugin& refused : catalogue.refused()) text += "\n  refused: " + refused.reason;
  throw Error(text);
}

}  // namespace

Form<PluginViewRequest> plugin_view_options() {
  using R = PluginViewRequest;
  return Form<R>()
      .include(&R::backend, backend_options())
      .option("file", &R::file, "FILE", "an experiment file, whose plugin_path is searched first");
}

Form<PluginLsRequest> plugin_ls_form() {
  using R = PluginLsRequest;
  return Form<R>("plugin ls", {"plugin ls [options]",
                               "Lists the plugins that runs can use, and refused plugins with the reason. "
                               "Loads nothing without --load.",
                               {{"exp plugin ls", "plugins of this build and of $ENCORE_PLUGIN_PATH"},
                                {"exp plugin ls --kind schedule", "only the plugins with a schedule"},
                                {"exp plugin ls --plugin-path my_layers/build --load",
                                 "also search your own folder, and load each plugin"}}})
      .include(&R::view, plugin_view_options())
      .option("kind", &R::kind, "KIND",
              "list only the plugins with a type of this kind: layer, head, tokenizer, optimizer, schedule, "
              "task, reader or step; refused plugins are listed in any case")
      .flag("load", &R::load, "load every plugin in the worker, to find errors that only loading shows")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the usable plugins as CSV")
      .exclude("json", "csv")
      .refuse([](const R& request) { return request.kind ? refusal_of_kind(*request.kind) : ""; });
}

Form<PluginInfoRequest> plugin_info_form() {
  using R = PluginInfoRequest;
  return Form<R>("plugin info",
                 {"plugin info NAME [options]",
                  "Describes a plugin or a type of any kind (layer, task, reader ...): each "
                  "option with type, default, range, unit and meaning, the fields and "
                  "measures of a task, the measures of a step, the columns and outputs of a head, and its "
                  "file.",
                  {{"exp plugin info self_attention", "print the options of a layer"},
                   {"exp plugin info adam --markdown",
                    "print the page of a plugin, as in docs/reference/plugins/"}}})
      .include(&R::view, plugin_view_options())
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the options as CSV")
      .flag("markdown", &R::markdown, "print the page of the documentation")
      .argument("name", &R::name, "the name of a plugin or of a type")
      .exclude("json", "markdown")
      .exclude("json", "csv")
      .exclude("csv", "markdown");
}

std::vector<const config::Manifest*> PluginView::usable() const {
  std::vector<const config::Manifest*> manifests;
  for (const config::Manifest& manifest : catalogue.manifests()) {
    bool good = true;
    for (const record::RefusedFile& refusal : refused)
      if (refusal.file == manifest.library_path()) good = false;
    if (kind &&
        std::ranges::find(manifest.offers, *kind, &config::ManifestOffer::kind) == manifest.offers.end())
      good = false;
    if (good) manifests.push_back(&manifest);
  }
  return manifests;
}

PluginView list_plugins(const PluginLsRequest& request) {
  std::optional<Kind> kind;
  if (request.kind) kind = config::kind_from_name(*request.kind);
  PluginView view = read_plugin_view(request.view, kind);
  if (request.load) load_with_worker(view);
  return view;
}

std::vector<config::Manifest> find_plugins(const PluginInfoRequest& request) {
  return find_named(read_plugin_view(request.view).catalogue, request.name);
}

nlohmann::ordered_json plugin_json(const config::Manifest& manifest) {
  nlohmann::ordered_json offers = nlohmann::ordered_json::array();
  for (const config::ManifestOffer& offer : manifest.offers)
    offers.push_back(nlohmann::ordered_json(config::offer_to_json(offer)));
  return {{"name", manifest.name},
          {"version", manifest.version},
          {"file", manifest.library_path().string()},
          {"sha256", sha256_of_file(manifest.library_path())},
          {"fingerprint", manifest.fingerprint},
          {"offers", offers}};
}

}  // namespace encore::app
