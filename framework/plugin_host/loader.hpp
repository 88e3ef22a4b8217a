// Opening one plugin: dlopen, the tag, the entry point. Who calls it has compared the manifest's fingerprint
// first: a plugin of another ABI could fail inside dlopen, before any tag can be read. Place in the flow:
// Registry loads with it; the tool encore-manifest makes manifests with it, without Kokkos running.
#pragma once

#include <filesystem>
#include <string>

#include <encore/plugin.hpp>

#include "config/manifest.hpp"

namespace encore {

struct OpenedPlugin {
  std::string name;
  std::string version;
  std::string fingerprint;
  Registrar offers;
};

/// Loads the shared object for the rest of the process (RTLD_NOW | RTLD_LOCAL) and collects what it offers.
/// Throws Error when the file is no plugin of this SDK, was built for another fingerprint, or its
/// registration fails or offers nothing.
OpenedPlugin open_plugin(const std::filesystem::path& library);

/// What a manifest says of an offer.
ManifestOffer describe(const Offer& offer);
/// What the plugin says about itself; `library` is the file name of the shared object.
Manifest make_manifest(const OpenedPlugin& plugin, const std::filesystem::path& library);

}  // namespace encore
