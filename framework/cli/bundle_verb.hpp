// What exp bundle consists of: making one (bundle_verb.cpp) and showing one (bundle_show.cpp).
#pragma once

#include "cli/verbs.hpp"

namespace encore {

int show_bundle(const Arguments& arguments);

}  // namespace encore
