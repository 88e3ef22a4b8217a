// Of equal spans the one of the first window wins.
#include "answers.hpp"

#include <limits>
#include <string>
#include <utility>

#include "columns.hpp"
#include "spans.hpp"

namespace encore::qa {

Answer find_answer(const Columns& in, std::size_t example, const Outputs& outputs, std::size_t longest,
                   std::optional<double> none_above) {
  const Run windows = in.set().sequences(example);
  std::optional<RowSpan> best;
  std::size_t place = windows.first, null_place = windows.first;
  double null_score = std::numeric_limits<double>::infinity();  // that of the window that is least sure of it
  const auto scores_of = [&](std::size_t sequence) { return outputs.numbers("spans", in.set(), sequence); };
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const float> scores = scores_of(s);
    const std::size_t begin = in.first_row(s);
    const std::optional<RowSpan> found = best_span(scores, begin, begin + in.pieces(s), longest);
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
  if (!best || (none_above && lead > *none_above))
    return {.span = {}, .probability = probability_of(scores_of(null_place), {}), .null_lead = lead};
  const std::string text = in.context(example);
  const ByteRange bytes = trimmed(text, in.bytes(place, best->first, best->last));
  const std::int64_t first = code_points_before(text, bytes.begin);
  TextSpan span = {.label = {}, .text = text.substr(bytes.begin, bytes.end - bytes.begin), .start = first};
  span.end = first + code_points_before(span.text, span.text.size());
  return {.span = std::move(span), .probability = probability_of(scores_of(place), *best), .null_lead = lead};
}

}  // namespace encore::qa
