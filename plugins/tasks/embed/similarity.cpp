// SPDX-License-Identifier: BSD-3-Clause
// Cosines, scales and groups for the task "embed". Sums run in a fixed order, so results have equal bits.
// embed.cpp calls it; runs store the text of the scale, so its form must not change. Read similarity.hpp
// first.
#include "similarity.hpp"

#include <charconv>
#include <cmath>

namespace encore::embed {

Vectors::Vectors(const ExampleSet& set, const Outputs& outputs, const char* output) {
  const Outputs::Values& all = outputs.get(output);
  values_ = all.numbers;
  width_ = static_cast<std::size_t>(all.rule.width);
  for (std::size_t s = 0; s < set.sequence_count(); ++s) {
    double squares = 0.0;
    for (const float value : of(s)) squares += static_cast<double>(value) * static_cast<double>(value);
    inverses_.push_back(squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0);
  }
}

std::span<const float> Vectors::of(std::size_t sequence) const {
  return values_.subspan(sequence * width_, width_);
}

double Vectors::cosine(std::size_t a, std::size_t b) const {
  const std::span<const float> u = of(a), v = of(b);
  double sum = 0.0;
  for (std::size_t c = 0; c < width_; ++c) sum += static_cast<double>(u[c]) * static_cast<double>(v[c]);
  return sum * inverses_[a] * inverses_[b];
}

Group group_of(std::size_t example, std::size_t count, std::size_t most) {
  const std::size_t groups = (count + most - 1) / most;
  const auto begin = [&](std::size_t group) { return (group * count + groups - 1) / groups; };
  const std::size_t group = example * groups / count;
  return {begin(group), begin(group + 1)};
}

std::string text_of(const NumberScale& scale) {
  char text[64];
  char* end = std::to_chars(text, text + sizeof(text), scale.least).ptr;
  *end++ = ' ';
  return {text, std::to_chars(end, text + sizeof(text), scale.most).ptr};
}

std::optional<NumberScale> scale_in(std::string_view text) {
  NumberScale scale;
  const char* end = text.data() + text.size();
  const auto least = std::from_chars(text.data(), end, scale.least);
  if (least.ec != std::errc() || least.ptr == end || *least.ptr != ' ') return std::nullopt;
  const auto most = std::from_chars(least.ptr + 1, end, scale.most);
  if (most.ec != std::errc() || most.ptr != end || !scale.is_known()) return std::nullopt;
  return scale;
}

}  // namespace encore::embed
