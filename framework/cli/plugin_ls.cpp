// plugin ls: what the plugin folders hold, usable or refused. Manifests are read and nothing is loaded;
// --load has the worker load everything, which finds what no manifest shows.
#include <iostream>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "cli/access.hpp"
#include "cli/plugin_verb.hpp"
#include "cli/plugin_view.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

struct Refusal {
  std::string file, reason;
};

/// What the worker says after loading everything: see worker/plugins_verb.cpp.
struct LoadReport {
  double milliseconds = 0.0;
  std::vector<Refusal> refused;
};

LoadReport load_with_worker(const PluginView& view) {
  const std::filesystem::path worker = worker_program(installed_programs(), view.backend);
  std::vector<std::string> arguments = {"plugins"};
  for (const std::filesystem::path& folder : view.folders) arguments.push_back(folder.string());
  const ProgramOutput answer = run_program(worker, arguments);
  const Json told = json_or_null<Json>(answer.output);
  if (!answer.end.success() || !told.is_object())
    throw Error(worker.string() + " plugins ended with " + answer.end.text() +
                " while it loaded; exp plugin check FILE.so finds out which plugin it was" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));
  LoadReport report;
  report.milliseconds = told.at("milliseconds").get<double>();
  for (const Json& refused : told.at("refused"))
    report.refused.push_back(
        {refused.at("file").get<std::string>(), refused.at("reason").get<std::string>()});
  return report;
}

std::vector<Refusal> refused_without_loading(const Catalogue& catalogue) {
  std::vector<Refusal> refused;
  for (const RefusedPlugin& plugin : catalogue.refused())
    refused.push_back({plugin.file.string(), plugin.reason});
  return refused;
}

/// Of the plugins whose manifest is good, those that loading did not refuse.
std::vector<const Manifest*> usable(const Catalogue& catalogue, const std::vector<Refusal>& refused) {
  std::vector<const Manifest*> manifests;
  for (const Manifest& manifest : catalogue.manifests()) {
    bool good = true;
    for (const Refusal& refusal : refused)
      if (refusal.file == manifest.library_path()) good = false;
    if (good) manifests.push_back(&manifest);
  }
  return manifests;
}

std::string offers_text(const Manifest& manifest) {
  std::string text;
  for (const ManifestOffer& offer : manifest.offers)
    text += (text.empty() ? "" : ", ") + std::string(name_of(offer.kind)) + " " + offer.name;
  return text;
}

void print_json(const PluginView& view, const std::vector<Refusal>& refused,
                const std::optional<LoadReport>& report) {
  Json plugins = Json::array(), refusals = Json::array(), folders = Json::array();
  for (const Manifest* manifest : usable(view.catalogue, refused)) plugins.push_back(plugin_json(*manifest));
  for (const Refusal& refusal : refused)
    refusals.push_back({{"file", refusal.file}, {"reason", refusal.reason}});
  for (const std::filesystem::path& folder : view.folders) folders.push_back(folder.string());
  Json out = {{"backend", view.backend}, {"folders", folders}, {"plugins", plugins}, {"refused", refusals}};
  if (report) out["load_milliseconds"] = report->milliseconds;
  std::cout << out.dump(2) << '\n';
}

void print_text(const PluginView& view, const std::vector<Refusal>& refused,
                const std::optional<LoadReport>& report) {
  const Terminal terminal = terminal_of(stdout);
  const std::vector<const Manifest*> manifests = usable(view.catalogue, refused);
  Table table({{"NAME"}, {"VERSION"}, {"OFFERS"}, {"FILE"}});
  for (const Manifest* manifest : manifests)
    table.add({manifest->name, manifest->version, offers_text(*manifest), manifest->library_path().string()});
  if (!table.empty()) table.print(std::cout, terminal);
  std::cout << (table.empty() ? "" : "\n") << manifests.size() << " usable on " << view.backend << ", "
            << refused.size() << " refused; searched:\n";
  for (const std::filesystem::path& folder : view.folders) std::cout << "  " << folder.string() << '\n';
  if (!refused.empty()) print_heading(std::cout, terminal, "refused");
  for (const Refusal& refusal : refused)
    std::cout << "  " << styled(terminal, Style::red, printable(refusal.reason)) << '\n';
  if (report) {
    std::cout.precision(3);
    std::cout << "\nthe worker checked, hashed and loaded all of them in " << report->milliseconds << " ms\n";
  }
}

}  // namespace

int plugin_ls(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("plugin ls", {"plugin ls [options]",
                                 "Lists the plugins that runs find, and those that are refused with the "
                                 "reason. Nothing is loaded unless --load is given.",
                                 {{"exp plugin ls", "what ships, and what $ENCORE_PLUGIN_PATH adds"},
                                  {"exp plugin ls --plugin-path my_layers/build --load",
                                   "with a folder of your own, each loaded once"}}});
  add_plugin_view_options(line);
  line.options()("load", po::bool_switch(),
                 "have the worker load every plugin: finds what only loading shows");
  line.options()("json", po::bool_switch(), "as JSON");
  if (!line.parse(arguments)) return exit_done;

  const PluginView view = read_plugin_view(line);
  std::vector<Refusal> refused = refused_without_loading(view.catalogue);
  std::optional<LoadReport> report;
  if (line.flag("load")) {
    report = load_with_worker(view);
    refused = report->refused;
  }
  if (line.flag("json"))
    print_json(view, refused, report);
  else
    print_text(view, refused, report);
  return exit_done;
}

}  // namespace encore
