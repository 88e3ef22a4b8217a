// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer "unigram", as a plugin.
#include "unigram.hpp"

ENCORE_PLUGIN("unigram", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore::unigram::Unigram>("unigram");
}
