// SPDX-License-Identifier: BSD-3-Clause
// Registers the tokenizer "unigram" as a plugin. It is a file of its own so that tests can link the tokenizer
// without it. plugin_host/loader.cpp calls the registration when a worker loads the plugin. Experiment files
// and runs contain the name, so it never changes.
#include "unigram.hpp"

ENCORE_PLUGIN("unigram", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, encore::unigram::Unigram>("unigram");
}
