// SPDX-License-Identifier: BSD-3-Clause
// Programs: finds worker, plugins, templates and reports from the path of the running program, in a build
// tree or an installation. Planners and verbs call it. A missing component is reported with the command that
// builds it. An installation and a build tree have the same folders; cmake/ must agree with the names here.
// Read programs.hpp first.
#include "runner/programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "config/catalogue.hpp"
#include "config/fingerprint.hpp"
#include "config/not_built.hpp"
#include "world/processor.hpp"

namespace encore::runner {

namespace {

std::filesystem::path folder_of_processors(const Programs& programs) {
  return programs.folder.parent_path() / "lib" / "encore" / "cpu";
}

/// Returns the folder that holds bin/ and lib/ of a backend.
std::filesystem::path prefix_of(const Programs& programs, const std::string& backend) {
  const std::filesystem::path own = programs.folder.parent_path();
  if (backend != programs.backend) return own.parent_path() / backend;
  const std::string processor = chosen_processor(programs);
  return processor.empty() ? own : folder_of_processors(programs) / processor;
}

/// Returns what to do about a missing backend: in a build tree build it, else install it beside this one.
std::string how_to_get(const Programs& programs, const std::string& backend) {
  // A build links to the tree's templates, an installation has a copy.
  const std::filesystem::path templates = template_folder(programs);
  if (std::filesystem::exists(templates) && !std::filesystem::is_symlink(templates))
    return "install an Encore built for " + backend + " into " + prefix_of(programs, backend).string();
  return "build it with ./exp --backend " + backend + " build";
}

/// Splits "a:b" into absolute paths; empty parts are dropped.
std::vector<std::filesystem::path> split_path(const std::string& list) {
  std::vector<std::filesystem::path> folders;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ':');)
    if (!part.empty()) folders.push_back(std::filesystem::absolute(part).lexically_normal());
  return folders;
}

}  // namespace

Programs installed_programs() {
  return {std::filesystem::read_symlink("/proc/self/exe").parent_path(), ENCORE_BACKEND_NAME};
}

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = {"openmp", "serial", "cuda", "hip"};
  return names;
}

bool computes_on_host(const std::string& backend) {
  return backend == "openmp" || backend == "serial";
}

void require_backend(const std::string& backend) {
  const auto& names = backend_names();
  if (std::find(names.begin(), names.end(), backend) == names.end())
    throw Error("unknown backend \"" + backend + "\"" +
                did_you_mean(backend, names, ": expected openmp, serial, cuda or hip"));
}

std::filesystem::path worker_program(const Programs& programs, const std::string& backend) {
  require_backend(backend);
  if (const char* program = std::getenv("ENCORE_WORKER"); program != nullptr && *program != '\0') {
    if (::access(program, X_OK) == 0) return program;
    throw Error(std::string("$ENCORE_WORKER names ") + program +
                ", which is not an executable program; correct or unset it");
  }
  const std::filesystem::path program = prefix_of(programs, backend) / "bin" / "encore-worker";
  if (::access(program.c_str(), X_OK) != 0)
    throw Error("there is no worker for backend " + backend + " (" + program.string() + "); " +
                how_to_get(programs, backend));
  return program;
}

std::vector<std::string> packaged_processors(const Programs& programs) {
  std::vector<std::string> names;
  for (const world::Processor& processor : world::processors())
    if (std::filesystem::is_directory(folder_of_processors(programs) / processor.name))
      names.emplace_back(processor.name);
  return names;
}

std::string chosen_processor(const Programs& programs) {
  const std::vector<std::string> names = packaged_processors(programs);
  if (names.empty()) return "";
  const char* wanted = std::getenv("ENCORE_CPU");
  if (wanted != nullptr && *wanted != '\0') {
    if (std::ranges::find(names, wanted) == names.end())
      throw Error("invalid $ENCORE_CPU \"" + std::string(wanted) + "\"" +
                  did_you_mean(wanted, names, ": this package has programs for " + listed(names)));
    if (!world::find_processor(wanted)->runs_here())
      throw Error("$ENCORE_CPU is " + std::string(wanted) + ", but this processor lacks " +
                  world::find_processor(wanted)->abilities + "; unset it, or name one of " + listed(names));
    return wanted;
  }
  for (const std::string& name : names)
    if (world::find_processor(name)->runs_here()) return name;
  throw Error("this processor lacks " + std::string(world::find_processor(names.back())->abilities) +
              ", which the programs of this package need (" + listed(names) +
              "); build Encore from its source on this machine");
}

void require_component(const Programs& programs, const std::string& backend, const std::string& name) {
  const std::filesystem::path prefix = prefix_of(programs, backend);
  if (!std::filesystem::exists(prefix / "components.txt")) return;  // an installation
  std::istringstream list(read_file(prefix / "components.txt"));
  std::string component, target, file, seconds;
  while (list >> component >> target >> file >> seconds)
    if (component == name && !std::filesystem::exists(prefix / file)) throw config::NotBuilt({name}, prefix);
}

std::filesystem::path plugin_folder(const Programs& programs, const std::string& backend) {
  return prefix_of(programs, backend) / "lib" / "encore" / "plugins";
}

std::filesystem::path package_folder(const Programs& programs, const std::string& backend) {
  require_backend(backend);
  const std::filesystem::path folder = prefix_of(programs, backend) / "lib" / "cmake" / "encore";
  if (!std::filesystem::exists(folder / "encore-config.cmake"))
    throw Error("there is no Encore for backend " + backend + " to build against (" + folder.string() +
                "); " + how_to_get(programs, backend));
  return folder;
}

std::filesystem::path template_folder(const Programs& programs) {
  return programs.folder.parent_path() / "share" / "encore" / "template";
}

std::filesystem::path report_folder(const Programs& programs) {
  return programs.folder.parent_path() / "share" / "encore" / "reports";
}

std::string fingerprint_of(const Programs& programs, const std::string& backend) {
  if (backend == programs.backend && packaged_processors(programs).empty())
    return std::string(config::host_fingerprint());
  const config::Catalogue built_in = config::Catalogue::survey({plugin_folder(programs, backend)});
  return built_in.manifests().empty() ? "" : built_in.manifests().front().fingerprint;
}

std::vector<std::filesystem::path> plugin_search_path(const std::vector<std::filesystem::path>& of_file,
                                                      const std::vector<std::string>& of_command_line,
                                                      const Programs& programs, const std::string& backend) {
  std::vector<std::filesystem::path> named = of_file;
  for (const std::string& list : of_command_line)
    for (const std::filesystem::path& folder : split_path(list)) {
      if (!std::filesystem::is_directory(folder))
        throw Error("--plugin-path names \"" + folder.string() + "\", which is not a folder");
      named.push_back(folder);
    }
  if (const char* list = std::getenv("ENCORE_PLUGIN_PATH"))
    for (const std::filesystem::path& folder : split_path(list)) named.push_back(folder);

  std::vector<std::filesystem::path> searched;
  for (const std::filesystem::path& folder : named) {
    searched.push_back(folder);
    std::error_code unreadable;
    if (std::filesystem::is_directory(folder / backend, unreadable)) searched.push_back(folder / backend);
  }
  searched.push_back(plugin_folder(programs, backend));
  return searched;
}

}  // namespace encore::runner
