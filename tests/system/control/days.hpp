// SPDX-License-Identifier: BSD-3-Clause
// write_days(): a small language model for tests of programs, which learns the order of letters in the days
// of the week in a second. generate_test.cpp, lm_test.cpp, serve_test.cpp and others compare its exact
// output, so its settings stay.
#pragma once

#include <string>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

inline constexpr const char* days_experiment = R"(seed = 1
[task]
type = "lm"
[data]
type = "text_file"
train = "train.txt"
dev = "dev.txt"
test = "test.txt"
max_length = 16
[tokenizer]
type = "character"
vocab_size = 60
white_space = true
[model]
causal = true
width = 32
layers = 1
dropout = 0.0
norm_position = "pre"
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
[model.head]
type = "language_model"
transform = false
[optimizer]
type = "adamw"
learning_rate = 5e-3
[schedule]
type = "cosine"
warmup_steps = 10
[train]
steps = 250
batch_tokens = 256
)";

/// Writes the days in their order, in lines that are longer than a window.
inline std::string days(int begin, int end) {
  const char* names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 5 + i % 4; ++k) lines += std::string(k > 0 ? " " : "") + names[(i + k) % 7];
    lines += "\n";
  }
  return lines;
}

/// Writes NAME.toml with its three sets.
inline void write_days(const Sandbox& sandbox, const std::string& name) {
  sandbox.write(name + ".toml", "name = \"" + name + "\"\n" + days_experiment);
  sandbox.write("train.txt", days(0, 56));
  sandbox.write("dev.txt", days(70, 84));
  sandbox.write("test.txt", days(90, 104));
}

/// Writes NAME.toml, whose model writes bytes: most of its letters take two to four of them.
inline void write_letters(const Sandbox& sandbox, const std::string& name) {
  std::string experiment = "name = \"" + name + "\"\n" + days_experiment;
  const std::string tokenizer = "type = \"character\"\nvocab_size = 60\nwhite_space = true\n";
  replace_first(experiment, tokenizer,
                "type = \"byte_bpe\"\nvocab_size = 262\nmin_frequency = 1\nadd_prefix_space = false\n");
  replace_first(experiment, "max_length = 16", "max_length = 48");
  for (const char* file : {"train.txt", "dev.txt", "test.txt"})
    replace_first(experiment, file, "letters.txt");
  sandbox.write(name + ".toml", experiment);
  std::string lines;
  for (int i = 0; i < 24; ++i) lines += "zoë 😀 日本 café ж ÿ naïve 東京 🙂 été\n";
  sandbox.write("letters.txt", lines);
}

}  // namespace encore::system_test
