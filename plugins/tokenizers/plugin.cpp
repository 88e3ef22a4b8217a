// SPDX-License-Identifier: BSD-3-Clause
// Registers the tokenizer "wordpiece" as a plugin. It is a file of its own so that tests can link the
// tokenizer without it.
#include "wordpiece.hpp"

ENCORE_PLUGIN("wordpiece", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore::wordpiece::WordPiece>("wordpiece");
}
