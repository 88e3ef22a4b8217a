// SPDX-License-Identifier: BSD-3-Clause
// The reader "jsonl" as a plugin.
#include <encore/plugin.hpp>

#include "jsonl.hpp"

ENCORE_PLUGIN("jsonl", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::jsonl::JsonlReader>("jsonl");
}
