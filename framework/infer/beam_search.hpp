// SPDX-License-Identifier: BSD-3-Clause
// BeamSearch holds the live outputs of one prompt, to which tokens are appended, and the finished ones. It
// does not call the model: the caller passes the best tokens for each live output, and advance() selects
// which outputs continue with which token. With a beam of 1 this is greedy decoding. Place in the flow:
// TextWriter has one for each prompt. The order of equal continuations must stay, so that equal runs give
// equal text.
//
//   BeamSearch search(decoding, end_token, most_tokens);
//   while (!search.done()) search.advance(candidates of search.live());
//   search.best(1);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/decoding.hpp>

#include "infer/required_tokens.hpp"

namespace encore::infer {

/// A token that may come next, and the logarithm of its probability.
struct NextToken {
  std::int32_t token = 0;
  double log_probability = 0.0;
};

class BeamSearch {
 public:
  /// An output that continues.
  struct Live {
    std::size_t parent = 0;  ///< index in live() before the last advance()
    std::vector<std::int32_t> tokens = {};
    double log_probability = 0.0;
    RequiredTokens::Progress progress = {};  ///< of the required strings, if there are any
  };

  /// `end`: the token that ends an output, or -1; `most_tokens`: the largest length of an output, at least 1.
  /// `required`: strings that an output must have before it may end; null: none. They are ignored if they
  /// need more than `most_tokens` tokens. The object must outlive the search.
  BeamSearch(const Decoding& decoding, std::int32_t end, std::int64_t most_tokens,
             const RequiredTokens* required = nullptr);

  /// Returns the live outputs, the best first: at first one without tokens, then up to `beam`.
  const std::vector<Live>& live() const { return live_; }
  /// Returns whether no output continues: the beam is full of finished ones, or all have the largest length.
  bool done() const { return done_; }
  /// Returns how many candidates of each live output can be selected: the best 2 * beam, or 1 with a beam of
  /// 1.
  static std::int64_t candidates(std::int64_t beam) { return beam == 1 ? 1 : 2 * beam; }
  /// Selects which outputs continue. `of` has for each of live() its best tokens, the best first. The `beam`
  /// best continuations of all outputs stay live; one with the token `end` finishes its output instead if it
  /// is among the `beam` best, and the next best takes its place. Of equal continuations, that of the earlier
  /// output in live() comes first, then the earlier candidate; this order is fixed, so that equal runs give
  /// equal text. With required strings the outputs that lack equally many tokens of them share the beam with
  /// the others, group by group (advance_by_groups), and `of` also has the tokens that wanted() names.
  void advance(std::span<const std::vector<NextToken>> of);
  /// Returns the tokens that write a required text in live output `text`; empty if nothing is required.
  std::vector<std::int32_t> wanted(std::size_t text) const;
  /// Finishes the output with this index in live(), because its text has reached a stop string.
  void end(std::size_t text);

  /// Returns the best finished outputs by Decoding::length_penalty, ties in the order in which they ended,
  /// without the stop string. If too few have finished, live ones follow.
  std::vector<GeneratedText> best(std::size_t count) const;

 private:
  struct Ended {
    std::vector<std::int32_t> tokens = {};
    double score = 0.0;
    bool ended = true;
  };
  struct Continuation {
    std::size_t text = 0;
    NextToken next;
    double log_probability = 0.0;
  };
  double score(double log_probability, std::size_t tokens) const;
  void advance_by_groups(std::span<const Continuation> sorted);
  void finish_if_enough();

  std::size_t beam_;
  double length_penalty_;
  std::size_t given_;  ///< given tokens of a target, which count as its own
  std::int32_t end_;
  std::size_t most_tokens_;
  const RequiredTokens* required_;
  bool done_ = false;
  std::vector<Live> live_ = {{}};
  std::vector<Ended> ended_;
};

}  // namespace encore::infer
