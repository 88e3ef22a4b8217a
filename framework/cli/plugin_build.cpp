// plugin build: the short way through CMake for a folder with a plugin, against the build or installation
// that this program belongs to. Read next: cmake/encore_plugin.cmake, what the folder's CMakeLists.txt calls.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/shell_word.hpp"
#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/plugin_verb.hpp"
#include "config/catalogue.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

fs::path require_project(const std::string& name) {
  const fs::path folder = fs::path(name).lexically_normal();
  if (!fs::is_directory(folder))
    throw UsageError("there is no folder " + folder.string() + "; exp plugin new makes one");
  if (!fs::exists(folder / "CMakeLists.txt"))
    throw UsageError(folder.string() + " has no CMakeLists.txt; name the folder that exp plugin new made");
  return folder;
}

bool has_ninja() {
  try {
    return run_program("ninja", {"--version"}).end.success();
  } catch (const Error&) {
    return false;
  }
}

/// False, with CMake's message shown, when the project cannot be configured.
bool configure(const fs::path& source, const fs::path& build, const fs::path& package) {
  std::vector<std::string> arguments = {"-S",
                                        source.string(),
                                        "-B",
                                        build.string(),
                                        "--toolchain",
                                        (package / "encore-toolchain.cmake").string(),
                                        "-Dencore_DIR=" + package.string()};
  if (!fs::exists(build / "CMakeCache.txt") && has_ninja())
    arguments.insert(arguments.end(), {"-G", "Ninja"});
  const ProgramOutput output = run_program("cmake", arguments);
  if (!output.end.success()) std::cerr << output.output << output.errors;
  return output.end.success();
}

/// What was built: a line for each plugin, and what to do with it next.
void print_result(const std::vector<Manifest>& manifests, const fs::path& plugins) {
  for (const Manifest& manifest : manifests) {
    std::cout << "built " << manifest.library_path().string();
    const char* separator = ": ";
    for (const ManifestOffer& offer : manifest.offers) {
      std::cout << separator << name_of(offer.kind) << " \"" << offer.name << '"';
      separator = ", ";
    }
    std::cout << "\n  check     " << command_name() << ' '
              << shell_command({"plugin", "check", manifest.library_path().string()}) << '\n';
  }
  std::cout << "  use       plugin_path = [\"" << plugins.string()
            << "\"]   at the top of an experiment file\n";
}

}  // namespace

int plugin_build(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "plugin build",
      {"plugin build FOLDER [--backend NAME]",
       "Configures and builds the plugin in FOLDER with CMake, for this Encore: in FOLDER/build/BACKEND, the "
       "plugin itself and its manifest in FOLDER/build/BACKEND/plugins.",
       {{"exp plugin build my_layers", "then: plugin_path = [\"my_layers/build/openmp/plugins\"]"}}});
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: $ENCORE_BACKEND, else that of this build)");
  line.positional("folder");
  if (!line.parse(arguments)) return exit_done;

  const fs::path source = require_project(line.required("folder", "the folder of a plugin"));
  const Programs programs = installed_programs();
  const std::string backend = backend_of(line, programs);
  const fs::path package = package_folder(programs, backend);
  require_component(programs, backend, "encore_testing");  // what the plugin's own tests link
  const fs::path build = source / "build" / backend;
  const fs::path plugins = build / "plugins";

  std::cout << "configuring " << build.string() << std::endl;
  if (!configure(source, build, package)) {
    std::cerr << "exp: CMake could not configure " << source.string() << "; its message stands above\n";
    return exit_failed;
  }
  std::cout << "building " << build.string() << std::endl;
  if (!run_attached("cmake", {"--build", build.string()}).success()) {
    std::cerr << "exp: " << source.string() << " could not be built; the message stands above\n";
    return exit_failed;
  }
  const Catalogue catalogue = Catalogue::load({plugins});
  if (catalogue.manifests().empty()) {
    std::cerr << "exp: " << source.string() << " was built, but there is no plugin in " << plugins.string()
              << "; its CMakeLists.txt must call encore_add_plugin\n";
    return exit_failed;
  }
  print_result(catalogue.manifests(), plugins);
  return exit_done;
}

}  // namespace encore
