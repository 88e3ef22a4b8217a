// SPDX-License-Identifier: BSD-3-Clause
// open_plugin(): opens a shared object, compares its tag with this program's, and collects its offers;
// make_manifest() describes them. registry.cpp and manifest_tool.cpp call it. Code of the plugin runs in
// dlopen, so callers compare fingerprints before. Read loader.hpp first.
#include "plugin_host/loader.hpp"

#include <dlfcn.h>

#include <string_view>

#include "config/fingerprint.hpp"

namespace encore::plugin_host {
namespace {

std::string last_dl_error() {
  const char* message = dlerror();
  return message == nullptr ? "unknown error of the dynamic loader" : message;
}

void* open_library(const std::filesystem::path& library) {
  // The path is absolute, so that the loader never searches for a file of that name elsewhere.
  void* handle = dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(library.string() + ": cannot be loaded: " + last_dl_error());
  return handle;
}

const PluginTag& read_tag(void* handle, const std::filesystem::path& library) {
  const auto* tag = static_cast<const PluginTag*>(dlsym(handle, "encore_plugin_tag"));
  if (tag == nullptr || std::string_view(tag->magic, sizeof(tag->magic) - 1) != "ENCORE1")
    throw Error(library.string() +
                ": not an Encore plugin; its source must end with ENCORE_PLUGIN(name, version) { ... }");
  if (tag->sdk_version != ENCORE_SDK_VERSION)
    throw Error(library.string() + ": was built with version " + std::to_string(tag->sdk_version) +
                " of the SDK, this is version " + std::to_string(ENCORE_SDK_VERSION) + "; rebuild it");
  return *tag;
}

}  // namespace

OpenedPlugin open_plugin(const std::filesystem::path& library) {
  void* handle = open_library(library);
  const PluginTag& tag = read_tag(handle, library);
  OpenedPlugin plugin{tag.name, tag.version, tag.fingerprint, {}};
  const std::string problem =
      config::fingerprint_problem(plugin.name, library, plugin.fingerprint, config::host_fingerprint());
  if (!problem.empty()) throw Error(problem);

  using Register = const char* (*)(Registrar*);
  const auto collect = reinterpret_cast<Register>(dlsym(handle, "encore_plugin_register"));
  if (collect == nullptr)
    throw Error(library.string() + ": has no encore_plugin_register; use ENCORE_PLUGIN");
  if (const char* failure = collect(&plugin.offers))
    throw Error(library.string() + ": plugin \"" + plugin.name + "\" cannot register: " + failure);
  if (plugin.offers.offers().empty())
    throw Error(library.string() + ": plugin \"" + plugin.name +
                "\" registers nothing; call plugin.add<Kind, Type>(name) in its ENCORE_PLUGIN block");
  return plugin;
}

config::ManifestOffer describe(const Offer& offer) {
  return {.kind = offer.kind,
          .name = offer.name,
          .version = offer.version,
          .options = offer.options,
          .summary = offer.summary,
          .needs = offer.needs,
          .measures = offer.measures,
          .select = offer.select,
          .asks_model = offer.asks_model,
          .gives = offer.gives,
          .may_give = offer.may_give,
          .adopted = offer.adopted};
}

config::Manifest make_manifest(const OpenedPlugin& plugin, const std::filesystem::path& library) {
  config::Manifest manifest;
  manifest.name = plugin.name;
  manifest.version = plugin.version;
  manifest.fingerprint = plugin.fingerprint;
  manifest.library = library.filename().string();
  for (const Offer& offer : plugin.offers.offers()) manifest.offers.push_back(describe(offer));
  return manifest;
}

}  // namespace encore::plugin_host
