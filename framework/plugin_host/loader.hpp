// SPDX-License-Identifier: BSD-3-Clause
// open_plugin(): opens one plugin: dlopen, tag, entry point. head_forms() finds what a head needs from a
// task, by letting it declare. Place in the flow: Registry loads with it; the tool encore-manifest makes
// manifests with it, without Kokkos. Callers must have compared the manifest's fingerprint before, because a
// plugin of another ABI could fail inside dlopen, before any tag can be read. The order of the steps must
// stay: the tag is read before any other code of the plugin is called.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <encore/plugin.hpp>

#include "config/manifest.hpp"

namespace encore::plugin_host {

struct OpenedPlugin {
  std::string name;
  std::string version;
  std::string fingerprint;
  Registrar offers;
};

/// Loads the shared object for the rest of the process (RTLD_NOW | RTLD_LOCAL) and collects what it offers.
/// Throws Error when the file is not a plugin of this SDK, was built for another fingerprint, or its
/// registration fails or offers nothing.
OpenedPlugin open_plugin(const std::filesystem::path& library);

/// Returns an offer as a manifest describes it.
config::ManifestOffer describe(const Offer& offer);
/// Returns what the plugin says about itself; `library` is the file name of the shared object.
config::Manifest make_manifest(const OpenedPlugin& plugin, const std::filesystem::path& library);

/// Returns one form for each space over which the head takes the column "targets", with its default options;
/// forms that are otherwise equal are joined. Returns none if it takes none, and for other kinds.
std::vector<config::HeadForm> head_forms(const Offer& offer);

}  // namespace encore::plugin_host
