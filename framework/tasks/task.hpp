// Task: what differs between entity recognition, classification, question answering: the sets and their
// targets, the measures, and the file of predictions. The trainer knows only this; make_task chooses by the
// experiment's task.type. Read next: ner.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "data/encode.hpp"

namespace encore {

enum class Split : std::uint8_t { train, dev, test };

constexpr const char* name_of(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::dev:
      return "dev";
    case Split::test:
      return "test";
  }
  return "unknown";
}

/// A measured value, named `split/measure`: {"dev/f1", 0.83}. Fractions are in [0, 1].
struct Measure {
  std::string name;
  double value = 0.0;
};

/// The class of each row with a target, row by row, for each example of a set.
using Predictions = std::vector<std::vector<std::int32_t>>;

class Task {
 public:
  virtual ~Task() = default;
  /// Names of the classes.
  virtual const std::vector<std::string>& labels() const = 0;
  /// Of the training set.
  virtual WordCounts word_counts() const = 0;
  /// Turns all sets into examples; once, before the calls below.
  virtual void encode(const Tokenizer& tokenizer) = 0;
  virtual bool has(Split split) const = 0;
  virtual const EncodedSet& set(Split split) const = 0;
  /// What a user should know about the data: sentences that were cut, labels that training lacks.
  virtual std::vector<std::string> notes() const = 0;
  virtual std::vector<Measure> score(Split split, const Predictions& predictions) const = 0;
  /// Writes the predictions example by example, one JSON object a line.
  virtual void save_predictions(Split split, const Predictions& predictions,
                                const std::filesystem::path& path) const = 0;
};

/// Reads every set of the experiment. Throws Error naming file and line of what cannot be read.
std::unique_ptr<Task> make_task(const Experiment& experiment);

}  // namespace encore
