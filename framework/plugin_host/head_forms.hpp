// head_forms: what a head asks of a task, found by having it declare. Place in the flow: encore-manifest
// writes the forms into the manifest, `exp plugin info` and the page of a plugin show them.
#pragma once

#include <vector>

#include <encore/plugin.hpp>

#include "config/manifest.hpp"

namespace encore {

/// One for each space over which the head takes the column "targets", with its default options; those that
/// are equal in all else are one. Empty where it takes none, and for other kinds.
std::vector<HeadForm> head_forms(const Offer& offer);

}  // namespace encore
