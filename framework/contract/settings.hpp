// SPDX-License-Identifier: BSD-3-Clause
// with_settings() applies `exp plugin check -S KEY=VALUE`: values that replace defaults in the whole suite.
// Place in the flow: worker/check_plugin_verb.cpp applies them to the types that the plugin offers, then runs
// the checks (suite.hpp). Scripts of plugin authors have such settings, so their form must not change.
#pragma once

#include <string>
#include <vector>

#include <encore/plugin.hpp>

namespace encore::contract {

/// Returns the reader that `data.type=NAME` among the settings chooses for the file of --data; empty if there
/// is no such setting.
std::string chosen_reader(const std::vector<std::string>& settings);

/// Returns the offers with these settings as their defaults. KEY is an option ("levels"), for every offer
/// that declares it, or one with its table as in an experiment file ("task.levels", "data.header",
/// "model.layer.attention.heads"). Throws Error for a value that does not fit its option, and for a key that
/// no offer has.
std::vector<Offer> with_settings(std::vector<Offer> offers, const std::vector<std::string>& settings);

}  // namespace encore::contract
