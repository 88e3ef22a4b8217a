// SPDX-License-Identifier: BSD-3-Clause
// LeftOut warns about inputs that are longer than the model reads. It prints only the first one, because a
// user does not read a thousand warnings. predict_verb.cpp and predict_file_verb.cpp call it after each
// encoded set.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

#include "infer/engine.hpp"

namespace encore::worker {

class LeftOut {
 public:
  /// `what`: the word for an input in messages, such as "line" or "record".
  LeftOut(const infer::Engine& model, std::string what) : model_(model), what_(std::move(what)) {}

  /// Counts the examples of a set and prints the warning at the first one that the task cuts.
  void look_at(const ExampleSet& set) {
    for (std::size_t i = 0; i < set.size() && !found_; ++i) {
      ++number_;
      const std::string left_out = model_.task().left_out(set, i);
      if (left_out.empty()) continue;
      found_ = true;
      std::cerr << "encore-worker: " << what_ << ' ' << number_
                << " is longer than data.max_length = " << model_.experiment().data.max_length
                << " of the model: " << left_out << "; cut the text into shorter " << what_
                << "s (only the first such " << what_ << " is named)\n";
    }
  }

 private:
  const infer::Engine& model_;
  std::string what_;
  std::int64_t number_ = 0;
  bool found_ = false;
};

}  // namespace encore::worker
