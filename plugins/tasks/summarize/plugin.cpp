// SPDX-License-Identifier: BSD-3-Clause
// The task "summarize" as a plugin.
#include <encore/plugin.hpp>

#include "summarize.hpp"

ENCORE_PLUGIN("summarize", "1.0.0") {
  plugin.add<encore::Kind::task, encore::summarize::Summarize>("summarize");
}
