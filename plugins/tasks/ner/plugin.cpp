// SPDX-License-Identifier: BSD-3-Clause
// The task "ner" as a plugin.
#include <encore/plugin.hpp>

#include "ner.hpp"

ENCORE_PLUGIN("ner", "1.0.0") {
  plugin.add<encore::Kind::task, encore::ner::Ner>("ner");
}
