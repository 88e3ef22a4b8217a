// SPDX-License-Identifier: BSD-3-Clause
// bert_experiment(): the sandbox's experiment with a BERT as its model, for tests of exported and imported
// folders (export_test.cpp, import_test.cpp). Its shape must stay one that `exp export` can write as a BERT.
#pragma once

#include <string>

namespace encore::system_test {

/// Returns an experiment file called `name` that trains a small BERT from scratch.
inline std::string bert_experiment(const std::string& name) {
  return "name = \"" + name + R"("
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
max_length = 32
[tokenizer]
type = "wordpiece"
vocab_size = 120
lowercase = true
[model]
width = 16
layers = 2
dropout = 0.1
positions = "learned"
max_positions = 40
segments = 2
embedding_norm = true
embedding_scale = "none"
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
activation = "gelu"
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
batch_size = 16
epochs = 2
)";
}

}  // namespace encore::system_test
