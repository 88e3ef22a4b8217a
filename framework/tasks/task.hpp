// Task: what differs between entity recognition, classification, question answering: the sets and their
// targets, the measures, and the file of predictions. The trainer knows only this; make_task chooses by the
// experiment's task.type. Read next: ner.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "data/encode.hpp"
#include "tasks/token_cache.hpp"

namespace encore {

enum class Split : std::uint8_t { train, dev, test };
inline constexpr std::array all_splits = {Split::train, Split::dev, Split::test};

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

/// The SHA-256 of each file of a run by role ("train", "dev", "test", "vocab"), as it was planned.
using ContentHashes = std::map<std::string, std::string>;

class Task {
 public:
  virtual ~Task() = default;
  /// Reads every set that is not read yet. Throws Error naming file and line of what cannot be read, or the
  /// file that is no longer the one that was planned.
  virtual void read() = 0;
  /// Of the training set; reads it when it is not read yet.
  virtual WordCounts word_counts() = 0;

  /// Turns all sets into examples, reading what is not read yet. The number of threads changes no bit.
  virtual void encode(const Tokenizer& tokenizer, int threads) = 0;
  /// The same from what save_encoded left there for these files and the same `encoding`, the text of
  /// everything about the tokenizer that decides its pieces; false when there is nothing. No set is read.
  virtual bool load_encoded(const TokenCache& cache, const std::string& encoding) = 0;
  virtual void save_encoded(const TokenCache& cache, const std::string& encoding) = 0;

  /// Names of the classes; after read() or one of the three above.
  virtual const std::vector<std::string>& labels() const = 0;

  // --- after encode or load_encoded ---
  virtual bool has(Split split) const = 0;
  virtual const EncodedSet& set(Split split) const = 0;
  /// What a user should know about the data: sentences that were cut, labels that training lacks.
  virtual Notes notes() const = 0;
  virtual std::vector<Measure> score(Split split, const Predictions& predictions) const = 0;
  /// Writes the predictions example by example, one JSON object a line.
  virtual void save_predictions(Split split, const Predictions& predictions,
                                const std::filesystem::path& path) const = 0;
};

/// Reads nothing yet. Without `planned` hashes nothing is compared with them, and nothing is cached.
std::unique_ptr<Task> make_task(const Experiment& experiment, ContentHashes planned = {});

}  // namespace encore
