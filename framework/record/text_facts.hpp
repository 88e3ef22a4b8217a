// SPDX-License-Identifier: BSD-3-Clause
// TextFacts: numbers about one input that a model has answered (tokens, confidence, labels), without any of
// its words. Place in the flow: infer/observe.hpp counts them; text_reference.hpp sums those of the
// development set; `exp serve --monitor` keeps those of its requests; monitor/ compares the two. Spools of
// servers hold its JSON, also of other versions: a field keeps its name, and a new one is optional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace encore::record {

/// The largest number of inputs, tokens or labels: sums of as many of them do not overflow.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 40;

struct TextFacts {
  std::int64_t tokens = 0;                          ///< that the model has read, markers included
  std::int64_t unknown = 0;                         ///< of them those that the vocabulary does not have
  std::optional<double> confidence = {};            ///< mean probability of what was chosen, in [0, 1]
  std::optional<double> distance = {};              ///< of its embedding from those of the development set
  std::map<std::string, std::int64_t> labels = {};  ///< how often the answer has each
  std::map<std::string, std::string> fields = {};   ///< the class in each field of an application's answer

  /// Returns one line of JSON.
  std::string json() const;
  /// Throws Error if the text is not a result of json(), or a number is out of its range.
  static TextFacts parse(std::string_view text);

  friend bool operator==(const TextFacts&, const TextFacts&) = default;
};

}  // namespace encore::record
