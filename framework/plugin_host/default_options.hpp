// SPDX-License-Identifier: BSD-3-Clause
// default_options(): options for an object for which the user has chosen none. loader.hpp describes heads
// with them, the contract suite (contract/) checks plugins of every kind with them. Runs do not use it: their
// options are validated (config/validate.hpp).
#pragma once

#include <encore/options.hpp>

namespace encore::plugin_host {

/// Returns the smallest value that the rule of an option allows, the first of its choices, or an empty list.
OptionValue smallest_value(const Option& option);

/// Returns the defaults of a schema. A required option gets its smallest value, or the value that was chosen
/// for it.
Options default_options(const Schema& schema);

/// Whether the option has a value that was chosen in place of its default (contract/suite.hpp): it is
/// required and has a default all the same.
bool is_chosen(const Option& option);

}  // namespace encore::plugin_host
