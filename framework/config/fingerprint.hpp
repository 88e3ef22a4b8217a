// SPDX-License-Identifier: BSD-3-Clause
// The fingerprint is a readable `key=value;` text that names everything on which two binaries must agree to
// share C++ objects. Only equal fingerprints are accepted. The build defines the same text for both programs
// and for every plugin. config/manifest.hpp compares it before a plugin counts as usable;
// plugin_host/loader.hpp compares it again with the text that the shared object itself has. Built plugins
// contain the text, so its form must not change.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace encore::config {

/// Returns the fingerprint of this program: sdk, compiler, standard library, kokkos, backend, architecture,
/// sanitizer.
std::string_view host_fingerprint();

/// Returns the fields that differ, with both values: `kokkos is 4.6.2 in the plugin and 4.7.0 here, ...`;
/// empty when all are equal. A missing field counts as "(none)". `where` stands in the message behind each
/// value of `other`, such as "in the plugin".
std::string fingerprint_difference(std::string_view other, std::string_view host,
                                   const std::string& where = "in the plugin");

/// Returns why a program with the fingerprint `host` cannot use a plugin with this one: the fields that
/// differ and the command that rebuilds it. Returns an empty string when they are equal.
std::string fingerprint_problem(const std::string& plugin, const std::filesystem::path& library,
                                std::string_view fingerprint, std::string_view host);

/// Returns `./exp build` for a plugin of the build itself, otherwise `exp plugin build DIR` with the nearest
/// folder above the shared object that holds a CMakeLists.txt.
std::string rebuild_command(const std::filesystem::path& library);

}  // namespace encore::config
