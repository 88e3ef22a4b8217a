// SPDX-License-Identifier: BSD-3-Clause
// A run small enough for a test: a corpus of a few sentences for the task "ner", and the specification of a
// run that learns from it. training_runs.hpp runs it in the process of the test, and
// unit/infer/engine_fixture.hpp loads its model.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/catalogue.hpp"
#include "config/experiment_file.hpp"
#include "plan/plan.hpp"
#include "record/specification.hpp"
#include "support/places.hpp"

namespace encore::testing {

/// Writes the sentences `first` to `first` + `count` - 1, in which the word before a name decides its label.
inline void write_corpus(const std::filesystem::path& file, int first, int count) {
  const char* names[] = {"Jordan", "Paris", "Florence", "Austin", "Sydney"};
  std::ofstream out(file);
  for (int i = first; i < first + count; ++i) {
    const char* name = names[i % 5];
    const bool place = i % 2 == 0;
    for (int k = 0; k < i % 7; ++k) out << "well\tO\n";
    out << (place ? "in" : "Mrs") << "\tO\n" << name << (place ? "\tB-LOC\n" : "\tB-PER\n") << "slept\tO\n\n";
  }
}

/// Writes train.conll, dev.conll and test.conll into the folder.
inline void write_corpora(const std::filesystem::path& folder) {
  write_corpus(folder / "train.conll", 0, 60);
  write_corpus(folder / "dev.conll", 60, 20);
  write_corpus(folder / "test.conll", 80, 20);
}

/// Returns the specification of the first run of an experiment written in TOML, whose data files are in
/// `folder`. Plugins are those that ship and those in the folders `more`.
inline record::Specification specification_of(const std::string& toml, const std::filesystem::path& folder,
                                              const std::vector<std::string>& more = {},
                                              const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> plugins = {
      (std::filesystem::path(ENCORE_BUILD_DIR) / "lib/encore/plugins").string()};
  plugins.insert(plugins.end(), more.begin(), more.end());
  const config::ExperimentFile document =
      config::parse_experiment_file(toml, folder / "tiny.toml", overrides);
  const plan::Plan plan =
      plan::make_plan(document, config::Catalogue::load({plugins.begin(), plugins.end()}));
  const plan::RunPoint& point = plan.points.at(0);
  record::Specification specification;
  specification.run = "0123456789";
  specification.name = point.name;
  specification.seed = static_cast<std::uint64_t>(point.seed);
  specification.question = point.question;
  specification.group = point.group;
  specification.backend = ENCORE_BACKEND_NAME;
  specification.config = point.config;
  specification.origin = point.origin;
  for (const auto& [role, file] : point.data) specification.data[role] = {file.path, file.sha256};
  specification.plugin_folders = plugins;
  return specification;
}

/// Returns a run on the corpora of the folder (write_corpora()): 3 epochs of 8 steps.
inline record::Specification tiny_specification(const std::filesystem::path& folder,
                                                const std::vector<std::string>& overrides = {}) {
  const std::string text = R"(
seed = 3
task.type = "ner"
data = { type = "conll", train = "train.conll", dev = "dev.conll", test = "test.conll", max_length = 32 }
tokenizer = { type = "wordpiece", vocab_size = 60 }
optimizer = { type = "adam", learning_rate = 3e-3 }
schedule = { type = "linear", warmup_steps = 3 }
train = { batch_size = 8, epochs = 3, digest_steps = 4 }
[model]
width = 16
layers = 2
dropout = 0.1
block = ["attention", "feed_forward"]
layer.attention = { type = "self_attention", heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24 }
head.type = "linear"
)";
  return specification_of(text, folder, {}, overrides);
}

}  // namespace encore::testing
