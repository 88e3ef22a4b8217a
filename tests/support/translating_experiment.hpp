// SPDX-License-Identifier: BSD-3-Clause
// The experiment of system tests that translate (bench, predict, MarianMT, T5): a small encoder and decoder
// that learn from train.en and train.de, which system/control/translated_days.hpp writes. Settings that
// differ between the tests are in TranslatingParts.
#pragma once

#include <string>

namespace encore::testing {

/// The settings that differ between tests, as TOML.
struct TranslatingParts {
  std::string task = "";
  std::string max_length = "12";
  std::string tokenizer = "type = \"word\"\nvocab_size = 20\n";
  std::string model = "norm_position = \"pre\"\n";
  std::string decoder_layers = "1";
  std::string feed_forward = "";  ///< further options of the layer feed_forward
  std::string train = "epochs = 20\n";
};

inline std::string translating_experiment(const TranslatingParts& of) {
  return "name = \"days\"\n[task]\ntype = \"translate\"\n" + of.task + R"([data]
type = "parallel"
train = ["train.en", "train.de"]
dev = ["dev.en", "dev.de"]
max_length = )" +
         of.max_length + "\n[tokenizer]\n" + of.tokenizer + R"([model]
width = 16
layers = 1
dropout = 0.0
)" + of.model +
         R"(block = ["attention", "feed_forward"]
decoder = { layers = )" +
         of.decoder_layers + R"(, block = ["attention", "cross", "feed_forward"] }
layer.attention = { type = "self_attention", heads = 2 }
layer.cross = { type = "cross_attention", heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24)" +
         of.feed_forward + R"( }
head = { type = "language_model", transform = false }
[optimizer]
type = "adam"
learning_rate = 1e-2
[schedule]
type = "linear"
warmup_steps = 5
[train]
batch_size = 8
)" + of.train;
}

}  // namespace encore::testing
