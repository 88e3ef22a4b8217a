// SPDX-License-Identifier: BSD-3-Clause
// exp plugin new and exp plugin build: print the files that were made and the next command.
// app/plugin_project.cpp makes them; plugin_verb.cpp lists the actions. The guides
// docs/guides/adding_a_layer.md and its siblings show these lines, so a changed line needs a change there.
#include "app/plugin_project.hpp"

#include <nlohmann/json.hpp>

#include "app/plugin_view.hpp"
#include "base/shell_word.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

int plugin_new_action(const app::PluginNewRequest& request, app::App&, Console& console) {
  const app::PluginProject made = app::new_plugin(request);
  if (request.json) {
    console.print({{"version", 1}, {"folder", made.folder.string()}, {"files", made.files}});
    return exit_done;
  }
  console.out << "made " << made.folder.string() << ": a plugin with the " << request.kind << " \""
              << request.name << "\"\n";
  for (const std::string& file : made.files) console.out << "  " << (made.folder / file).string() << '\n';
  console.out << "  next      " << command_name() << ' '
              << shell_command({"plugin", "build", made.folder.string()}) << '\n';
  return exit_done;
}

int plugin_build_action(const app::PluginBuildRequest& request, app::App& app, Console& console) {
  const app::BuiltPlugins built =
      app::build_plugin(request, app, [&](const std::string& step, const std::string& folder) {
        (request.json ? console.err : console.out) << step << ' ' << folder << std::endl;
      });
  nlohmann::ordered_json plugins = nlohmann::ordered_json::array();
  for (const config::Manifest& manifest : built.manifests) {
    if (request.json) {
      plugins.push_back(app::plugin_json(manifest));
      continue;
    }
    console.out << "built " << manifest.library_path().string();
    const char* separator = ": ";
    for (const config::ManifestOffer& offer : manifest.offers) {
      console.out << separator << name_of(offer.kind) << " \"" << offer.name << '"';
      separator = ", ";
    }
    console.out << "\n  check     " << command_name() << ' '
                << shell_command({"plugin", "check", manifest.library_path().string()}) << '\n';
  }
  if (request.json)
    console.print({{"version", 1}, {"folder", built.folder.string()}, {"plugins", plugins}});
  else
    console.out << "  use       plugin_path = [\"" << built.folder.string()
                << "\"]   at the top of an experiment file\n";
  return exit_done;
}

}  // namespace

Verb plugin_new() {
  return make_verb("new", "make a folder with a new plugin, ready to build", app::plugin_new_form,
                   plugin_new_action);
}

Verb plugin_build() {
  return make_verb("build", "build a plugin for this Encore", app::plugin_build_form, plugin_build_action);
}

}  // namespace encore::cli
