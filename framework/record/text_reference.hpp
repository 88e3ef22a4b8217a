// SPDX-License-Identifier: BSD-3-Clause
// TextReference: histograms of the development set as the model saw it at the end of its training, with fixed
// bins; the file reference.json in the run's folder. Place in the flow: train/trainer.cpp and the worker's
// evaluate write it, the worker's serve measures distances by it, monitor/ compares the inputs of a service
// with it. Bins and names of streams are stored, so a change needs a new version (text_reference.cpp). Read
// next: text_facts.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/text_facts.hpp"

namespace encore::record {

/// The file in a run's folder, and the name of the artifact.
inline constexpr const char *reference_file = "reference.json", *reference_artifact = "reference";

// Streams are the numbers of an input that are compared one by one.
inline constexpr const char *tokens_stream = "pieces", *unknown_stream = "unknown",
                            *confidence_stream = "confidence", *distance_stream = "distance";
/// Begins the stream of a label: its share of the labels of an input.
inline constexpr const char* label_stream = "label/";

/// One stream of many inputs.
struct StreamCounts {
  std::vector<std::int64_t> bins = {};
  double sum = 0.0;  ///< of the values

  std::int64_t count() const;
  void add(std::size_t bin, double value);

  friend bool operator==(const StreamCounts&, const StreamCounts&) = default;
};

/// A value of a stream with its bin.
struct StreamValue {
  std::string stream;
  double value = 0.0;
  std::size_t bin = 0;
};

/// The streams and labels of many inputs.
struct TextHistograms {
  std::int64_t texts = 0;
  std::map<std::string, StreamCounts> streams = {};
  std::map<std::string, std::int64_t> labels = {};  ///< how often each was given; all possible labels

  /// Returns the values of an input, with one for each label of `labels`, whether it has it or not.
  std::vector<StreamValue> values_of(const TextFacts& facts) const;
  void add(const TextFacts& facts);

  friend bool operator==(const TextHistograms&, const TextHistograms&) = default;
};

/// The embeddings of a set: mean and variance of each dimension.
struct EmbeddingCloud {
  std::vector<double> mean = {}, variance = {};

  /// Returns the root of the mean over the dimensions of the squared distance from the mean in units of the
  /// variance: about 1 for a member of the set. Returns nothing if the cloud has another width, or is empty.
  std::optional<double> distance(std::span<const float> embedding) const;

  friend bool operator==(const EmbeddingCloud&, const EmbeddingCloud&) = default;
};

struct TextReference {
  std::string source;     ///< "dev", or the file
  std::int64_t step = 0;  ///< of the parameters
  TextHistograms histograms = {};
  EmbeddingCloud embeddings = {};

  std::string json() const;
  /// Throws Error if the text is not a result of json().
  static TextReference parse(std::string_view text);

  friend bool operator==(const TextReference&, const TextReference&) = default;
};

/// Returns the reference of a run, or nothing if its folder has none. Throws Error naming a damaged file.
std::optional<TextReference> find_reference(const std::filesystem::path& run_folder);

}  // namespace encore::record
