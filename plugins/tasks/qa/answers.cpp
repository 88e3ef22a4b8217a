// SPDX-License-Identifier: BSD-3-Clause
// The answers of the task "qa": find_answer() finds the best answer to a question over all windows of its
// context, and score_of() its probability. If spans in several windows are equally good, the one in the first
// window is the answer. qa.cpp calls both for measures and predictions. The scores of stored runs must stay
// reproducible, so the rules of choice must not change. Read answers.hpp first.
#include "answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "spans.hpp"

namespace encore::qa {
namespace {

/// A part of the context and the best score that any window gives it.
struct Candidate {
  std::size_t begin = 0, end = 0;  ///< in bytes
  double score = 0.0;
};

/// Returns the parts of all windows. Windows overlap: a part that several of them contain is one candidate.
std::vector<Candidate> all_candidates(const Columns& in, std::size_t example, const Outputs& outputs,
                                      std::size_t longest) {
  std::vector<Candidate> all;
  const Run windows = in.set().sequences(example);
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const float> scores = outputs.numbers("spans", in.set(), s);
    const std::size_t begin = in.first_row(s), end = begin + in.tokens(s);
    for (std::size_t first = begin; first < end; ++first)
      for (std::size_t last = first; last < std::min(end, first + longest); ++last) {
        const ByteRange bytes = in.bytes(s, first, last);
        const double score =
            static_cast<double>(scores[2 * first]) + static_cast<double>(scores[2 * last + 1]);
        if (!std::isnan(score)) all.push_back({.begin = bytes.begin, .end = bytes.end, .score = score});
      }
  }
  std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.begin, a.end, -a.score) < std::tuple(b.begin, b.end, -b.score);
  });
  const auto doubled = std::ranges::unique(
      all, [](const Candidate& a, const Candidate& b) { return a.begin == b.begin && a.end == b.end; });
  all.erase(doubled.begin(), doubled.end());
  return all;
}

}  // namespace

Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above) {
  const Run windows = in.set().sequences(example);
  std::optional<RowSpan> best;
  std::size_t place = windows.first, null_place = windows.first;
  double null_score = std::numeric_limits<double>::infinity();  // the lowest of all windows
  const auto scores_of = [&](std::size_t sequence) { return outputs.numbers("spans", in.set(), sequence); };
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const float> scores = scores_of(s);
    const std::size_t begin = in.first_row(s);
    const std::optional<RowSpan> found = best_span(scores, begin, begin + in.tokens(s), longest);
    if (found && (!best || found->score > best->score)) {
      best = found;
      place = s;
    }
    const double null = static_cast<double>(scores[0]) + static_cast<double>(scores[1]);
    if (null < null_score) {
      null_score = null;
      null_place = s;
    }
  }
  const double lead = best ? null_score - best->score : std::numeric_limits<double>::infinity();
  const double best_score = best ? best->score : -std::numeric_limits<double>::infinity();
  if (!best || (none_above && lead > *none_above))
    return {.span = {},
            .probability = probability_of(scores_of(null_place), {}),
            .null_lead = lead,
            .best_score = best_score};
  const std::string text = in.context(example);
  const ByteRange bytes = trimmed(text, in.bytes(place, best->first, best->last));
  const std::int64_t first = code_points_before(text, bytes.begin);
  TextSpan span = {.label = {}, .text = text.substr(bytes.begin, bytes.end - bytes.begin), .start = first};
  span.end = first + code_points_before(span.text, span.text.size());
  return {.span = std::move(span),
          .probability = probability_of(scores_of(place), *best),
          .null_lead = lead,
          .best_score = best_score};
}

double score_of(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                bool none_is_one, const Answer& given) {
  const std::vector<Candidate> candidates = all_candidates(in, example, outputs, longest);
  if (candidates.empty()) return 1.0;
  const double null_score = given.best_score + given.null_lead;
  const double largest = none_is_one ? std::max(given.best_score, null_score) : given.best_score;
  double sum = none_is_one ? std::exp(null_score - largest) : 0.0;
  for (const Candidate& candidate : candidates) sum += std::exp(candidate.score - largest);
  const double share = std::exp((given.span ? given.best_score : null_score) - largest) / sum;
  return std::isfinite(share) ? share : 0.0;
}

}  // namespace encore::qa
