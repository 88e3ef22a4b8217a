// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer "byte_bpe", as a plugin.
#include "byte_bpe.hpp"

ENCORE_PLUGIN("byte_bpe", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore::byte_bpe::ByteBpe>("byte_bpe");
}
