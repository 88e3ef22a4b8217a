// SPDX-License-Identifier: BSD-3-Clause
// RequiredTokens: the strings that the outputs of one prompt must have (encore/required_text.hpp), as tokens.
// It follows how far an output has written them, and names the tokens that write more of them. BeamSearch
// asks it for each continuation. Pure functions on the host; progress depends on the tokens of the output
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <encore/required_text.hpp>
#include <encore/tokenizer.hpp>

namespace encore::infer {

class RequiredTokens {
 public:
  /// The first `tokens` tokens of a form are the last tokens of the output.
  struct Match {
    std::size_t text = 0, form = 0, tokens = 0;
  };
  /// What an output has written. A form is complete when the text behind it is known to begin a new word;
  /// until then it is an open match with all its tokens.
  struct Progress {
    std::vector<std::int64_t> written;  ///< of each text: how often it stands there as whole words
    std::vector<Match> open;
    std::int64_t missing = 0;  ///< the smallest number of tokens that complete all strings
  };

  /// `tokenizer` cuts and decodes targets, and must outlive this object. A form with a character that the
  /// vocabulary lacks cannot be written and is ignored; so is a text without any other form.
  RequiredTokens(const Tokenizer& tokenizer, const std::vector<RequiredText>& texts);

  bool empty() const { return texts_.empty(); }
  /// Returns the progress of an output without tokens.
  Progress begin() const;
  /// Returns the progress of the output `tokens` with progress `before` after it is continued with `next`.
  Progress after(const Progress& before, std::span<const std::int32_t> tokens, std::int32_t next) const;
  /// Returns the tokens that continue an open match or begin a form that is missing, ascending. One of them
  /// makes `missing` smaller by one.
  std::vector<std::int32_t> wanted(const Progress& progress) const;

 private:
  struct Text {
    std::vector<std::vector<std::int32_t>> forms;
    std::int64_t times = 1;
    std::int64_t shortest = 0;  ///< tokens of the shortest form
  };
  /// Returns whether the text of `next` continues a word of the output.
  bool is_glued(std::span<const std::int32_t> tokens, std::int32_t next) const;
  std::int64_t missing_in(const Progress& progress) const;

  const Tokenizer& tokenizer_;
  std::vector<Text> texts_;
};

}  // namespace encore::infer
