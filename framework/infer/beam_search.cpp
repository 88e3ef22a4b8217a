// SPDX-License-Identifier: BSD-3-Clause
// Implements BeamSearch: advance() orders all continuations of the live outputs of one prompt by their
// probability and keeps the best. text_writer.cpp calls it after each pass of the model. Read beam_search.hpp
// first. The order of equal continuations is fixed, so that equal runs give equal text.
#include "infer/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <encore/error.hpp>

namespace encore::infer {

BeamSearch::BeamSearch(const Decoding& decoding, std::int32_t end, std::int64_t most_tokens,
                       const RequiredTokens* required)
    : beam_(static_cast<std::size_t>(decoding.beam)),
      length_penalty_(decoding.length_penalty),
      given_(static_cast<std::size_t>(decoding.given) - 1),
      end_(end),
      most_tokens_(static_cast<std::size_t>(most_tokens)),
      required_(required) {
  ENCORE_REQUIRE(decoding.beam >= 1 && decoding.given >= 1 && most_tokens >= 1,
                 "a beam of one text and one token at least");
  if (required_ == nullptr) return;
  live_.front().progress = required_->begin();
  if (required_->empty() || live_.front().progress.missing > most_tokens) required_ = nullptr;
}

double BeamSearch::score(double log_probability, std::size_t tokens) const {
  return log_probability / std::pow(static_cast<double>(given_ + tokens), length_penalty_);
}

void BeamSearch::advance(std::span<const std::vector<NextToken>> of) {
  ENCORE_REQUIRE(!done_ && of.size() == live_.size(), "each live text has candidates");
  std::vector<Continuation> all;
  for (std::size_t text = 0; text < of.size(); ++text)
    for (const NextToken& next : of[text])
      all.push_back({text, next, live_[text].log_probability + next.log_probability});
  std::ranges::stable_sort(all, std::ranges::greater(), &Continuation::log_probability);
  if (required_ != nullptr) return advance_by_groups(all);

  std::vector<Live> live;
  for (std::size_t rank = 0; rank < all.size() && live.size() < beam_; ++rank) {
    const Continuation& each = all[rank];
    std::vector<std::int32_t> tokens = live_[each.text].tokens;
    if (each.next.token != end_) {
      tokens.push_back(each.next.token);
      live.push_back(
          {.parent = each.text, .tokens = std::move(tokens), .log_probability = each.log_probability});
    } else if (rank < beam_) {
      const double of_text = score(each.log_probability, tokens.size() + 1);
      ended_.push_back({.tokens = std::move(tokens), .score = of_text});
    }
  }
  live_ = std::move(live);
  finish_if_enough();
}

std::vector<std::int32_t> BeamSearch::wanted(std::size_t text) const {
  if (required_ == nullptr) return {};
  return required_->wanted(live_.at(text).progress);
}

// Dynamic beam allocation (Post and Vilar 2018): the continuations form groups by the number of required
// tokens that they lack, and the groups take turns, the one that lacks least first, until the beam is full.
// Without groups an output that writes an improbable required token would lose against the others at once. A
// continuation that lacks more tokens than its length leaves is dropped, so every output that reaches the
// largest length has all required strings. wanted() names a token that makes the number smaller, so one
// remains.
void BeamSearch::advance_by_groups(std::span<const Continuation> sorted) {
  struct Chosen {
    const Continuation* continuation = nullptr;
    RequiredTokens::Progress progress;
  };
  std::map<std::int64_t, std::vector<Chosen>> groups;  // each the most probable first
  for (const Continuation& each : sorted) {
    const Live& parent = live_[each.text];
    if (each.next.token == end_) {
      if (parent.progress.missing == 0) groups[0].push_back({.continuation = &each, .progress = {}});
      continue;
    }
    RequiredTokens::Progress progress = required_->after(parent.progress, parent.tokens, each.next.token);
    const auto length = static_cast<std::int64_t>(parent.tokens.size()) + 1 + progress.missing;
    if (length > static_cast<std::int64_t>(most_tokens_)) continue;
    groups[progress.missing].push_back({.continuation = &each, .progress = std::move(progress)});
  }
  // An end counts among the best of its group only, as many as the group's share of the beam.
  const std::size_t share = (beam_ + groups.size() - 1) / std::max<std::size_t>(groups.size(), 1);
  std::vector<Live> live;
  std::map<std::int64_t, std::size_t> next;  // of each group the first continuation that has had no turn
  for (bool has_more = true; has_more && live.size() < beam_;) {
    has_more = false;
    for (auto& [missing, members] : groups) {
      std::size_t& turn = next[missing];
      bool took = false;
      while (!took && turn < members.size() && live.size() < beam_) {
        const Continuation& each = *members[turn].continuation;
        std::vector<std::int32_t> tokens = live_[each.text].tokens;
        if (each.next.token != end_) {
          tokens.push_back(each.next.token);
          live.push_back({.parent = each.text,
                          .tokens = std::move(tokens),
                          .log_probability = each.log_probability,
                          .progress = std::move(members[turn].progress)});
          took = true;
        } else if (turn < share) {
          const double of_text = score(each.log_probability, tokens.size() + 1);
          ended_.push_back({.tokens = std::move(tokens), .score = of_text});
        }
        ++turn;
      }
      has_more = has_more || took;
    }
  }
  std::ranges::stable_sort(live, std::ranges::greater(), &Live::log_probability);
  live_ = std::move(live);
  finish_if_enough();
}

void BeamSearch::end(std::size_t text) {
  Live& live = live_.at(text);
  const double of_text = score(live.log_probability, live.tokens.size());
  ended_.push_back({.tokens = std::move(live.tokens), .score = of_text});
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(text));
  finish_if_enough();
}

void BeamSearch::finish_if_enough() {
  const bool longest = !live_.empty() && live_.front().tokens.size() >= most_tokens_;
  done_ = live_.empty() || longest || ended_.size() >= beam_;
  if (!done_) return;
  for (Live& live : live_) {
    const double of_text = score(live.log_probability, std::max<std::size_t>(live.tokens.size(), 1));
    ended_.push_back({.tokens = std::move(live.tokens), .score = of_text, .ended = false});
  }
  live_.clear();
}

std::vector<GeneratedText> BeamSearch::best(std::size_t count) const {
  std::vector<const Ended*> order;
  for (const Ended& each : ended_) order.push_back(&each);
  std::ranges::stable_sort(order, [](const Ended* a, const Ended* b) {
    return a->ended != b->ended ? a->ended : a->score > b->score;
  });
  std::vector<GeneratedText> texts;
  for (const Ended* each : std::span(order).first(std::min(count, order.size())))
    texts.push_back({.tokens = each->tokens, .text = {}, .score = each->score, .ended = each->ended});
  return texts;
}

}  // namespace encore::infer
