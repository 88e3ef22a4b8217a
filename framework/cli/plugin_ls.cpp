// SPDX-License-Identifier: BSD-3-Clause
// exp plugin ls: prints the usable and the refused plugins of the plugin folders. app/plugin_view.cpp finds
// them; plugin_verb.cpp lists the action. Programs read JSON and CSV: members and columns keep their names.
#include <nlohmann/json.hpp>

#include "app/plugin_view.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string offers_text(const config::Manifest& manifest) {
  std::string text;
  for (const config::ManifestOffer& offer : manifest.offers)
    text += (text.empty() ? "" : ", ") + std::string(name_of(offer.kind)) + " " + offer.name;
  return text;
}

Json json_of(const app::PluginView& view) {
  Json plugins = Json::array(), refusals = Json::array(), folders = Json::array();
  for (const config::Manifest* manifest : view.usable()) plugins.push_back(app::plugin_json(*manifest));
  for (const record::RefusedFile& refusal : view.refused)
    refusals.push_back({{"file", refusal.file}, {"reason", refusal.reason}});
  for (const std::filesystem::path& folder : view.folders) folders.push_back(folder.string());
  Json json = {{"version", 1},
               {"backend", view.backend},
               {"folders", folders},
               {"plugins", plugins},
               {"refused", refusals}};
  if (view.load_milliseconds) json["load_milliseconds"] = *view.load_milliseconds;
  return json;
}

void print_text(const app::PluginView& view, bool csv, Console& console) {
  std::ostream& out = console.out;
  Table table({{"NAME"}, {"VERSION"}, {"OFFERS"}, {"FILE"}});
  for (const config::Manifest* manifest : view.usable())
    table.add({manifest->name, manifest->version, offers_text(*manifest), manifest->library_path().string()});
  if (csv) return table.print_csv(out);
  if (!table.empty()) table.print(out, console.terminal);
  out << (table.empty() ? "" : "\n") << view.usable().size() << " usable"
      << (view.kind ? " with " + config::with_article(*view.kind) : "") << " on " << view.backend << ", "
      << view.refused.size() << " refused; searched:\n";
  for (const std::filesystem::path& folder : view.folders) out << "  " << folder.string() << '\n';
  if (!view.refused.empty()) print_heading(out, console.terminal, "refused");
  for (const record::RefusedFile& refusal : view.refused)
    out << "  " << styled(console.terminal, Style::red, printable(refusal.reason)) << '\n';
  if (view.load_milliseconds) {
    out.precision(3);
    out << "\nthe worker checked, hashed and loaded all of them in " << *view.load_milliseconds << " ms\n";
  }
}

int plugin_ls_action(const app::PluginLsRequest& request, app::App&, Console& console) {
  const app::PluginView view = app::list_plugins(request);
  if (request.json)
    console.print(json_of(view));
  else
    print_text(view, request.csv, console);
  return exit_done;
}

}  // namespace

Verb plugin_ls() {
  return make_verb("ls", "list the plugins that runs can use, and refused ones", app::plugin_ls_form,
                   plugin_ls_action);
}

}  // namespace encore::cli
