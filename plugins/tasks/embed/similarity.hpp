// SPDX-License-Identifier: BSD-3-Clause
// Cosines of vectors, the scale that maps numbers of the data to cosines, and the groups in which the right
// text is searched. embed.cpp computes its measures from them. Runs store the text of NumberScale as the
// task's knowledge, so its form must not change.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/outputs.hpp>

namespace encore::embed {

/// The vectors of all sequences of a set, with the reciprocals of their lengths.
class Vectors {
 public:
  /// `output`: the name of the output that holds them, over sequences.
  Vectors(const ExampleSet& set, const Outputs& outputs, const char* output);

  std::span<const float> of(std::size_t sequence) const;
  /// Returns the cosine, in [-1, 1]; 0 if a vector is zero. It sums in double, channel by channel.
  double cosine(std::size_t a, std::size_t b) const;

 private:
  std::span<const float> values_;
  std::size_t width_;
  std::vector<double> inverses_;
};

/// A group of adjacent examples, [begin, end). `count` examples are split into as few groups of at most
/// `most` as possible, with nearly equal sizes.
struct Group {
  std::size_t begin = 0, end = 0;
};
Group group_of(std::size_t example, std::size_t count, std::size_t most);

/// Maps the numbers of the data to cosines and back: the smallest to 0, the largest to 1.
struct NumberScale {
  double least = 0.0, most = 0.0;

  bool is_known() const { return least < most; }
  double cosine_of(double number) const { return (number - least) / (most - least); }
  double number_of(double cosine) const { return least + cosine * (most - least); }
};
/// Returns a scale as text, such as "0 5", and reads it back (nothing if the text is invalid).
std::string text_of(const NumberScale& scale);
std::optional<NumberScale> scale_in(std::string_view text);

}  // namespace encore::embed
