// SPDX-License-Identifier: BSD-3-Clause
// head_forms(): finds what a head needs from a task, by letting it declare. Place in the flow:
// encore-manifest writes the forms into the manifest -> `exp plugin info` and the page of a plugin show them.
// No run depends on the result.
#pragma once

#include <vector>

#include <encore/plugin.hpp>

#include "config/manifest.hpp"

namespace encore::plugin_host {

/// Returns one form for each space over which the head takes the column "targets", with its default options;
/// forms that are otherwise equal are joined. Returns none if it takes none, and for other kinds.
std::vector<config::HeadForm> head_forms(const Offer& offer);

}  // namespace encore::plugin_host
