// The fingerprint: readable `key=value;` text that names everything two binaries must agree on to share C++
// objects. Equal or refused; there is no "compatible". The build defines the same text for the worker and for
// every plugin.
#pragma once

#include <string>
#include <string_view>

namespace encore {

/// Of this program: sdk, compiler, standard library, kokkos, backend, architecture, sanitizer.
std::string_view host_fingerprint();

/// The fields that differ, with both values: `kokkos is 4.6.2 in the plugin and 4.7.0 here, backend is ...`;
/// empty when all are equal. A field that one side lacks counts as "(none)".
std::string fingerprint_difference(std::string_view plugin, std::string_view host);

}  // namespace encore
