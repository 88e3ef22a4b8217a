// plugin new: copies a template (plugins/template, one folder per kind) under a new name.
// The template is a plugin called my_plugin with a class MyPlugin, built for openmp; these names are replaced
// everywhere, in the names of its files too. Read next: plugin_build.cpp.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/plugin_verb.hpp"
#include "config/catalogue.hpp"
#include "runner/programs.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// "my_layers" to "MyLayers"
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

/// The template's words and what they become.
using Replacements = std::vector<std::pair<std::string, std::string>>;

std::string with_words(std::string text, const Replacements& words) {
  for (const auto& [from, to] : words) text = replaced(std::move(text), from, to);
  return text;
}

/// A name becomes a folder, a CMake target, a namespace and the type in experiment files.
void require_good_name(const std::string& name) {
  const auto good = [](unsigned char letter) {
    return std::islower(letter) != 0 || std::isdigit(letter) != 0 || letter == '_';
  };
  if (std::islower(static_cast<unsigned char>(name.front())) == 0 || !std::ranges::all_of(name, good) ||
      name.size() > 64)
    throw UsageError("\"" + name +
                     "\" cannot be the name of a plugin: it takes small letters, digits and _, a letter "
                     "first, at most 64; for example my_layers");
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
    throw UsageError("\"" + name + "\" has a meaning of its own in builds; choose another name");
}

void require_other_names(const std::string& name, const Manifest& manifest) {
  if (manifest.name == name)
    throw UsageError("there is a plugin \"" + name + "\" already (" + manifest.file.string() +
                     "); choose another name");
  for (const ManifestOffer& offer : manifest.offers)
    if (offer.name == name)
      throw UsageError("there is " + with_article(offer.kind) + " \"" + name + "\" already (" +
                       manifest.file.string() + "); choose another name");
}

void require_free_name(const std::string& name, const fs::path& plugins) {
  const Catalogue catalogue = Catalogue::load({plugins});
  for (const Manifest& manifest : catalogue.manifests()) require_other_names(name, manifest);
  for (const Manifest& manifest : catalogue.unbuilt()) require_other_names(name, manifest);
}

/// The template's folder of that kind.
fs::path find_template(const fs::path& templates, const std::string& kind) {
  if (!fs::is_directory(templates))
    throw Error("the templates are missing (" + templates.string() + "); build or install Encore again");
  std::vector<std::string> kinds;
  for (const auto& entry : fs::directory_iterator(templates))
    if (entry.is_directory()) kinds.push_back(entry.path().filename().string());
  std::ranges::sort(kinds);
  if (std::ranges::find(kinds, kind) == kinds.end())
    throw UsageError("there is no template for a plugin of kind \"" + kind + "\"" +
                     did_you_mean(kind, kinds, "; there is " + quoted_list(kinds)));
  return templates / kind;
}

void require_free_folder(const fs::path& folder) {
  std::error_code unreadable;
  if (!fs::exists(fs::symlink_status(folder))) return;
  if (fs::is_directory(folder) && fs::is_empty(folder, unreadable)) return;
  throw UsageError(folder.string() +
                   " exists and is not empty; choose another name, or another place with --into");
}

/// Returns the files written, relative to the folder.
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

}  // namespace

int plugin_new(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "plugin new",
      {"plugin new NAME [--kind KIND] [--into FOLDER]",
       "Writes the folder NAME with a small plugin that works: source, test, CMake file, README.",
       {{"exp plugin new my_layers --kind layer", "then: exp plugin build my_layers"},
        {"exp plugin new my_task --kind task",
         "what is learned; its README goes on to a run and a report"}}});
  line.options()("kind", po::value<std::string>()->default_value("layer")->value_name("KIND"),
                 "what it offers: layer, head, tokenizer, optimizer, schedule, task or reader");
  line.options()("into", po::value<std::string>()->default_value(".")->value_name("FOLDER"),
                 "where the folder is made");
  line.positional("name");
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("name", "a name");
  const Programs programs = installed_programs();
  require_good_name(name);
  const fs::path from = find_template(template_folder(programs), line.text("kind"));
  require_free_name(name, plugin_folder(programs, programs.backend));
  const fs::path folder = (fs::path(line.text("into")) / name).lexically_normal();
  require_free_folder(folder);

  std::cout << "made " << folder.string() << ": a plugin with the " << line.text("kind") << " \"" << name
            << "\"\n";
  const Replacements words = {{"my_plugin/build/openmp", "my_plugin/build/" + programs.backend},
                              {"my_plugin", name},
                              {"MyPlugin", class_name(name)}};
  for (const std::string& file : copy_template(from, folder, words))
    std::cout << "  " << (folder / file).string() << '\n';
  std::cout << "  next      " << command_name() << ' ' << shell_command({"plugin", "build", folder.string()})
            << '\n';
  return exit_done;
}

}  // namespace encore
