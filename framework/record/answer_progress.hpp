// SPDX-License-Identifier: BSD-3-Clause
// AnswerProgress: how far a worker has come with an answer, as a line of JSON that it writes before the
// answer. Place in the flow: the worker's verbs write it to standard output (worker/verb_helpers.hpp) ->
// app/worker_answer.cpp parses and shows it. Both programs come from one build, so the form may change; but
// no answer may begin like such a line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace encore::record {

/// Holds one progress report: "scored 300 of 1000 sequences". A worker writes any number of them before its
/// answer, perhaps none.
struct AnswerProgress {
  std::string what;  ///< what was done: "scored"
  std::string unit;  ///< what is counted: "sequences"
  std::size_t done = 0, all = 0;

  /// Returns the line without a line end.
  std::string line() const;
  /// Reads a line that line() has made, without its line end. Returns nothing if the line is something else,
  /// such as the answer.
  static std::optional<AnswerProgress> parse(std::string_view line);
  bool operator==(const AnswerProgress&) const = default;
};

}  // namespace encore::record
