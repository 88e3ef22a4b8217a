// SPDX-License-Identifier: BSD-3-Clause
// encore-manifest PLUGIN.so MANIFEST.json: writes the manifest of a plugin, as part of the build that made
// the plugin. It loads the plugin and asks for its offers; Kokkos is never initialized, so no device is
// needed. A plugin for a processor that this machine lacks cannot be loaded: with --like OTHER.json the
// manifest is that of the same plugin in a build of the same sources for another processor, with this build's
// fingerprint. cmake/ runs it for each plugin. config/manifest.cpp has the form of the JSON, which must not
// change.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "config/fingerprint.hpp"
#include "plugin_host/loader.hpp"

namespace {

/// Writes a temporary file and renames it, so that an interrupted build leaves no partial manifest.
void save(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path aside = file.string() + ".new";
  std::ofstream stream(aside, std::ios::binary | std::ios::trunc);
  stream << text << '\n';
  stream.close();
  if (!stream)
    throw encore::Error(aside.string() + ": cannot be written; is the disk full or the folder read-only?");
  std::filesystem::rename(aside, file);
}

/// Loads the plugin and describes its offers.
encore::config::Manifest ask(const std::filesystem::path& library) {
  const encore::plugin_host::OpenedPlugin plugin = encore::plugin_host::open_plugin(library);
  encore::config::Manifest made = encore::plugin_host::make_manifest(plugin, library);
  for (std::size_t i = 0; i < made.offers.size(); ++i)
    made.offers[i].forms = encore::plugin_host::head_forms(plugin.offers.offers()[i]);
  return made;
}

/// Returns the other manifest with this build's fingerprint, which the plugin must contain.
encore::config::Manifest copy(const std::filesystem::path& library, const std::filesystem::path& other) {
  encore::config::Manifest made = encore::config::load_manifest(other);
  made.fingerprint = encore::config::host_fingerprint();
  if (made.library != library.filename().string())
    throw encore::Error(other.string() + " is the manifest of " + made.library + ", not of " +
                        library.filename().string());
  if (encore::read_file(library).find(made.fingerprint) == std::string::npos)
    throw encore::Error(library.string() + " was not built by this build: it does not contain " +
                        made.fingerprint);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const bool like = argc == 5 && std::string_view(argv[1]) == "--like";
  if (argc != 3 && !like) {
    std::fputs("usage: encore-manifest [--like OTHER.json] PLUGIN.so MANIFEST.json\n", stderr);
    return 2;
  }
  try {
    const nlohmann::json manifest =
        encore::config::manifest_to_json(like ? copy(argv[3], argv[2]) : ask(argv[1]));
    encore::config::manifest_from_json(manifest);  // an invalid manifest fails the build
    save(argv[argc - 1], manifest.dump(1));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "encore-manifest: %s\n", error.what());
    return 1;
  }
}
