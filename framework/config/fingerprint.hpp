// The fingerprint: readable `key=value;` text that names everything two binaries must agree on to share C++
// objects. Equal or refused; there is no "compatible". The build defines the same text for both programs and
// for every plugin. Place in the flow: config/manifest.hpp compares it before a plugin counts as usable,
// plugin_host/loader.hpp once more with what the shared object itself says.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace encore {

/// Of this program: sdk, compiler, standard library, kokkos, backend, architecture, sanitizer.
std::string_view host_fingerprint();

/// The fields that differ, with both values: `kokkos is 4.6.2 in the plugin and 4.7.0 here, backend is ...`;
/// empty when all are equal. A field that one side lacks counts as "(none)". `where` says what the first is.
std::string fingerprint_difference(std::string_view other, std::string_view host,
                                   const std::string& where = "in the plugin");

/// Why a plugin with this fingerprint cannot be used by a program with that of `host`: the fields that
/// differ and the command that rebuilds it. Empty when they are equal.
std::string fingerprint_problem(const std::string& plugin, const std::filesystem::path& library,
                                std::string_view fingerprint, std::string_view host);

/// `./exp build` for a plugin of the build itself, else `exp plugin build DIR` with the nearest folder above
/// the shared object that holds a CMakeLists.txt.
std::string rebuild_command(const std::filesystem::path& library);

}  // namespace encore
