// default_options: the options that an object gets if the user has chosen none. Place in the flow:
// head_forms.hpp describes heads with them, the contract suite checks every kind with them.
#pragma once

#include <encore/options.hpp>

namespace encore {

/// The smallest value that the rule of an option allows, the first of its choices, or an empty list.
OptionValue smallest_value(const Option& option);

/// The defaults of a schema; a required option gets its smallest value, or the one that it has as a default
/// all the same (contract/settings.hpp).
Options default_options(const Schema& schema);

}  // namespace encore
