// SPDX-License-Identifier: BSD-3-Clause
// The tokenizers that come with Encore, as a plugin.
#include "wordpiece.hpp"

ENCORE_PLUGIN("wordpiece", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore::wordpiece::WordPiece>("wordpiece");
}
