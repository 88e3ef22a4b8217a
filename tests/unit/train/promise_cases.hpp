// SPDX-License-Identifier: BSD-3-Clause
// The cases of promises_test.cpp: one small experiment for each task, and some for layers and options. Every
// case runs in every test of Promises. A new task adds its case to the list in promise_cases.cpp; the names
// of cases appear in the names of tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace encore::train {

/// A small experiment of one task, with the data that it trains on.
struct PromiseCase {
  std::string name;
  std::string task;
  std::string task_options = {};  ///< TOML after the type in [task]
  std::string data;               ///< TOML of [data] beside its files
  std::string head;
  std::string head_options = {};  ///< lines of [model]
  /// Returns line i of a file.
  std::string (*line)(int i);
  std::string measure;  ///< name of the measure, in the result of the run, that shows whether it learned
  double at_least = 0.0;
  std::string attention = "type = \"self_attention\"";
  std::vector<std::string> overrides = {};
  std::string sets = R"(train = "train.tsv", dev = "dev.tsv", test = "test.tsv", max_length = 24)";
  bool couples_batches = false;  ///< its loss compares the sequences of a batch
  int epochs = 12;               ///< the number after which it has learned
};
std::ostream& operator<<(std::ostream& out, const PromiseCase& one);

const std::vector<PromiseCase>& promise_cases();

}  // namespace encore::train
