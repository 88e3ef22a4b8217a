// BeamSearch: the texts that are followed behind one prompt, and those that have ended. Knows no model: it is
// given the best tokens for each text and says which texts go on with which token. With a beam of 1 it is
// greedy decoding. Place in the flow: Generator has one for each prompt.
//
//   BeamSearch search(decoding, end_token, most_tokens);
//   while (!search.done()) search.advance(candidates of search.live());
//   search.best(1);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/decoding.hpp>

namespace encore {

/// A token that may come next, and its logarithm of the probability.
struct NextToken {
  std::int32_t token = 0;
  double log_probability = 0.0;
};

class BeamSearch {
 public:
  /// A text that goes on.
  struct Live {
    std::size_t parent = 0;  ///< of live() before the last advance
    std::vector<std::int32_t> tokens = {};
    double log_probability = 0.0;
  };

  /// end: the token that ends a text, or -1; most_tokens: of a text, at least 1.
  BeamSearch(const Decoding& decoding, std::int32_t end, std::int64_t most_tokens);

  /// One text without tokens at first, then up to `beam`, the best first.
  const std::vector<Live>& live() const { return live_; }
  /// No text goes on: as many have ended as the beam is wide, or all are as long as they may be.
  bool done() const { return done_; }
  /// How many candidates of each text can count: the best 2 * beam, 1 where the beam is.
  static std::int64_t candidates(std::int64_t beam) { return beam == 1 ? 1 : 2 * beam; }
  /// of: for each of live() its best tokens, the best first. Of all of them the best `beam` count: those with
  /// the token `end` end a text; in their place come the next best. Where two are equal the text that is the
  /// better one so far comes first, then the order of its candidates.
  void advance(std::span<const std::vector<NextToken>> of);
  /// That one of live() comes to its end here: at a string that ends texts.
  void end(std::size_t text);

  /// The best by Decoding::length_penalty, of equal ones the first that ended; without Decoding::stop. Texts
  /// that did not end come behind those that did, where these are not enough.
  std::vector<GeneratedText> best(std::size_t count) const;

 private:
  struct Ended {
    std::vector<std::int32_t> tokens = {};
    double score = 0.0;
    bool ended = true;
  };
  double score(double log_probability, std::size_t tokens) const;
  void finish_if_enough();

  std::size_t beam_;
  double length_penalty_;
  std::size_t given_;  ///< of a target, which count as its tokens
  std::int32_t end_;
  std::size_t most_tokens_;
  bool done_ = false;
  std::vector<Live> live_ = {{}};
  std::vector<Ended> ended_;
};

}  // namespace encore
