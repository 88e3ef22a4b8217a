// SPDX-License-Identifier: BSD-3-Clause
// encore-manifest PLUGIN.so MANIFEST.json: writes the manifest of a plugin, as part of the build that made
// the plugin. It loads the plugin and asks for its offers; Kokkos is never initialized, so no device is
// needed. cmake/ runs it for each plugin. config/manifest.cpp has the form of the JSON, which must not
// change.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: encore-manifest PLUGIN.so MANIFEST.json\n", stderr);
    return 2;
  }
  try {
    const std::filesystem::path library = argv[1];
    const encore::plugin_host::OpenedPlugin plugin = encore::plugin_host::open_plugin(library);
    encore::config::Manifest made = encore::plugin_host::make_manifest(plugin, library);
    for (std::size_t i = 0; i < made.offers.size(); ++i)
      made.offers[i].forms = encore::plugin_host::head_forms(plugin.offers.offers()[i]);
    const nlohmann::json manifest = encore::config::manifest_to_json(made);
    encore::config::manifest_from_json(manifest);  // an invalid manifest fails the build
    save(argv[2], manifest.dump(1));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "encore-manifest: %s\n", error.what());
    return 1;
  }
}
