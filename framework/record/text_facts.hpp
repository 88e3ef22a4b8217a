// TextFacts: what is known of one text that a model has answered to, without a word of it: numbers by which
// the texts of a service are compared with those of the development set. Place in the flow: infer/observe.hpp
// counts them; text_reference.hpp adds those of a set up; `exp serve --monitor` keeps those of its requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

/// The most that a number of texts, pieces or labels may be: sums of as many of them do not overflow.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 40;

struct TextFacts {
  std::int64_t pieces = 0;                          ///< that the model has read, markers included
  std::int64_t unknown = 0;                         ///< of them those for which the vocabulary has no piece
  std::optional<double> confidence = {};            ///< mean probability of what was chosen, in [0, 1]
  std::optional<double> distance = {};              ///< of its embedding from those of the reference
  std::map<std::string, std::int64_t> labels = {};  ///< how often the answer has each

  /// One line.
  std::string json() const;
  /// Throws Error where the text is not one of json(), or a number cannot be.
  static TextFacts parse(std::string_view text);

  friend bool operator==(const TextFacts&, const TextFacts&) = default;
};

}  // namespace encore
