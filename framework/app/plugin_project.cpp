// SPDX-License-Identifier: BSD-3-Clause
// `exp plugin new` copies a template of plugins/template with a new name, `exp plugin build` runs CMake on a
// project. cli/plugin_project.cpp calls new_plugin() and build_plugin() and prints the results. Names become
// folders, CMake targets and C++ namespaces, so require_good_name() must stay as strict as each of these.
// Read next: plugin_project.hpp.
#include "app/plugin_project.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "app/backend.hpp"
#include "base/nearest.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Converts "my_layers" to "MyLayers".
std::string class_name(const std::string& name) {
  std::string result;
  bool upper = true;
  for (const char letter : name) {
    if (letter != '_') result += upper ? static_cast<char>(std::toupper(letter)) : letter;
    upper = letter == '_';
  }
  return result;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Returns the words of the template with their replacements.
using Replacements = std::vector<std::pair<std::string, std::string>>;

std::string with_words(std::string text, const Replacements& words) {
  for (const auto& [from, to] : words) text = replaced(std::move(text), from, to);
  return text;
}

/// Checks a name, which is used for a folder, a CMake target, a namespace and the type in experiment files.
void require_good_name(const std::string& name) {
  const auto good = [](unsigned char letter) {
    return std::islower(letter) != 0 || std::isdigit(letter) != 0 || letter == '_';
  };
  if (std::islower(static_cast<unsigned char>(name.front())) == 0 || !std::ranges::all_of(name, good) ||
      name.size() > 64)
    throw UsageError("\"" + name +
                     "\" cannot be the name of a plugin: expected at most 64 lower-case letters, digits and "
                     "_, beginning with a letter, such as my_layers");
  static const std::vector<std::string> reserved = {"all",
                                                    "clean",
                                                    "edit_cache",
                                                    "encore",
                                                    "help",
                                                    "install",
                                                    "list_install_components",
                                                    "package",
                                                    "package_source",
                                                    "plugins",
                                                    "rebuild_cache",
                                                    "test"};
  if (std::ranges::find(reserved, name) != reserved.end())
    throw UsageError("\"" + name + "\" is a reserved name in builds; choose another name");
}

void require_other_names(const std::string& name, const config::Manifest& manifest) {
  if (manifest.name == name)
    throw UsageError("the plugin \"" + name + "\" already exists (" + manifest.file.string() +
                     "); choose another name");
  for (const config::ManifestOffer& offer : manifest.offers)
    if (offer.name == name)
      throw UsageError(config::with_article(offer.kind) + " \"" + name + "\" already exists (" +
                       manifest.file.string() + "); choose another name");
}

void require_free_name(const std::string& name, const fs::path& plugins) {
  const config::Catalogue catalogue = config::Catalogue::load({plugins});
  for (const config::Manifest& manifest : catalogue.manifests()) require_other_names(name, manifest);
  for (const config::Manifest& manifest : catalogue.unbuilt()) require_other_names(name, manifest);
}

/// Returns the template folder of this kind.
fs::path find_template(const fs::path& templates, const std::string& kind) {
  if (!fs::is_directory(templates))
    throw Error("the templates are missing (" + templates.string() + "): build or install Encore again");
  std::vector<std::string> kinds;
  for (const auto& entry : fs::directory_iterator(templates))
    if (entry.is_directory()) kinds.push_back(entry.path().filename().string());
  std::ranges::sort(kinds);
  if (std::ranges::find(kinds, kind) == kinds.end())
    throw UsageError("invalid --kind \"" + kind + "\"" +
                     did_you_mean(kind, kinds, ": expected " + quoted_list(kinds)));
  return templates / kind;
}

void require_free_folder(const fs::path& folder) {
  std::error_code unreadable;
  if (!fs::exists(fs::symlink_status(folder))) return;
  if (fs::is_directory(folder) && fs::is_empty(folder, unreadable)) return;
  throw UsageError(folder.string() +
                   " exists and is not empty; choose another name, or another place with --into");
}

/// Writes the files and returns their paths, relative to the folder.
std::vector<std::string> copy_template(const fs::path& from, const fs::path& to, const Replacements& words) {
  std::vector<std::string> written;
  std::error_code failed;
  fs::create_directories(to, failed);
  if (failed) throw Error("cannot make " + to.string() + ": " + failed.message());
  for (const auto& entry : fs::directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string file = with_words(entry.path().filename().string(), words);
    std::ofstream out(to / file, std::ios::binary);
    out << with_words(text, words);
    out.close();
    if (!in || !out) throw Error("cannot write " + (to / file).string());
    written.push_back(file);
  }
  std::ranges::sort(written);
  return written;
}

fs::path require_project(const std::string& name) {
  const fs::path folder = fs::path(name).lexically_normal();
  if (!fs::is_directory(folder))
    throw UsageError("there is no folder " + folder.string() + "; run exp plugin new to make one");
  if (!fs::exists(folder / "CMakeLists.txt"))
    throw UsageError(folder.string() + " has no CMakeLists.txt: expected a folder from exp plugin new");
  return folder;
}

bool has_ninja() {
  try {
    return runner::run_program("ninja", {"--version"}).end.success();
  } catch (const Error&) {
    return false;
  }
}

/// Returns false if CMake cannot configure the project; CMake has printed its message then.
bool configure(const App& app, const fs::path& source, const fs::path& build, const fs::path& package) {
  std::vector<std::string> arguments = {"-S",
                                        source.string(),
                                        "-B",
                                        build.string(),
                                        "--toolchain",
                                        (package / "encore-toolchain.cmake").string(),
                                        "-Dencore_DIR=" + package.string()};
  if (!fs::exists(build / "CMakeCache.txt") && has_ninja())
    arguments.insert(arguments.end(), {"-G", "Ninja"});
  const runner::ProgramOutput output = runner::run_program("cmake", arguments);
  if (!output.end.success()) app.events.relayed(output.output + output.errors);
  return output.end.success();
}

}  // namespace

Form<PluginNewRequest> plugin_new_form() {
  using R = PluginNewRequest;
  return Form<R>("plugin new",
                 {"plugin new NAME [--kind KIND] [--into FOLDER]",
                  "Writes the folder NAME with a small working plugin: source, test, CMake file, README.",
                  {{"exp plugin new my_layers --kind layer", "then: exp plugin build my_layers"},
                   {"exp plugin new my_task --kind task",
                    "its README also shows how to train with it and make a report"}}})
      .option("kind", &R::kind, "KIND",
              "kind of its type: layer, head, tokenizer, optimizer, schedule, task, reader or step")
      .option("into", &R::into, "FOLDER", "make the folder in FOLDER")
      .argument("name", &R::name, "a name")
      .flag("json", &R::json, "as JSON");
}

Form<PluginBuildRequest> plugin_build_form() {
  using R = PluginBuildRequest;
  return Form<R>(
             "plugin build",
             {"plugin build FOLDER [--backend NAME]",
              "Configures and builds the plugin in FOLDER with CMake, for this Encore: in "
              "FOLDER/build/BACKEND, the plugin itself and its manifest in "
              "FOLDER/build/BACKEND/plugins.",
              {{"exp plugin build my_layers", "then: plugin_path = [\"my_layers/build/openmp/plugins\"]"}}})
      .option("backend", &R::backend, "NAME",
              "openmp, serial, cuda or hip (default: $ENCORE_BACKEND, else that of this build)")
      .argument("folder", &R::folder, "the folder of a plugin")
      .flag("json", &R::json, "print the built files as JSON; CMake's output goes to standard error");
}

PluginProject new_plugin(const PluginNewRequest& request) {
  const runner::Programs programs = runner::installed_programs();
  require_good_name(request.name);
  const fs::path from = find_template(runner::template_folder(programs), request.kind);
  require_free_name(request.name, runner::plugin_folder(programs, programs.backend));
  PluginProject made{.folder = (fs::path(request.into) / request.name).lexically_normal(), .files = {}};
  require_free_folder(made.folder);
  made.files = copy_template(from, made.folder,
                             {{"my_plugin/build/openmp", "my_plugin/build/" + programs.backend},
                              {"my_plugin", request.name},
                              {"MyPlugin", class_name(request.name)}});
  return made;
}

BuiltPlugins build_plugin(
    const PluginBuildRequest& request, const App& app,
    const std::function<void(const std::string& step, const std::string& folder)>& step) {
  const fs::path source = require_project(request.folder);
  const runner::Programs programs = runner::installed_programs();
  const std::string backend = backend_of(request.backend, programs);
  const fs::path package = runner::package_folder(programs, backend);
  runner::require_component(programs, backend, "encore_testing");  // what the plugin's own tests link
  const fs::path build = source / "build" / backend;
  step("configuring", build.string());
  if (!configure(app, source, build, package))
    throw WorkError("CMake could not configure " + source.string() + "; see its message above");
  step("building", build.string());
  if (!runner::run_attached("cmake", {"--build", build.string()}).success())
    throw WorkError(source.string() + " could not be built; see the message above");
  BuiltPlugins built{.folder = build / "plugins", .manifests = {}};
  built.manifests = config::Catalogue::load({built.folder}).manifests();
  if (built.manifests.empty())
    throw WorkError("built " + source.string() + ", but found no plugin in " + built.folder.string() +
                    ": call encore_add_plugin() in its CMakeLists.txt");
  return built;
}

}  // namespace encore::app
