// SPDX-License-Identifier: BSD-3-Clause
// best_threshold(): one pass over the examples by falling probability, with F1 = 2 correct / (given +
// examples with the label). Multilabel::tune and Multilabel::use (multilabel.cpp) call this file. Runs store
// the text of the thresholds, so its form must not change. Read multilabel.hpp first.
#include "multilabel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <encore/error.hpp>

namespace encore::multilabel {
namespace {

/// Returns a number below `upper` and not below `lower`, so that `> threshold` separates the two.
float between(float lower, float upper) {
  const float middle = lower + (upper - lower) / 2.0F;
  return middle < upper ? middle : lower;
}

}  // namespace

float best_threshold(std::vector<Judged> texts, float usual) {
  std::ranges::sort(texts, [](const Judged& a, const Judged& b) { return a.first > b.first; });
  const std::int64_t having = std::ranges::count_if(texts, [](const Judged& text) { return text.second; });
  if (having == 0) return usual;
  // F1 is compared as a fraction, 2 correct / total, so that equal values are equal.
  std::int64_t best_correct = 0, best_total = 1, correct = 0;
  float best = usual;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    correct += texts[i].second ? 1 : 0;
    const float lower = i + 1 < texts.size() ? texts[i + 1].first : 0.0F;
    if (!(lower < texts[i].first)) continue;
    const float threshold = between(lower, texts[i].first);
    const std::int64_t total = static_cast<std::int64_t>(i) + 1 + having;
    const std::int64_t gain = correct * best_total - best_correct * total;
    const bool nearer = std::abs(threshold - usual) < std::abs(best - usual);
    if (gain > 0 || (gain == 0 && correct > 0 && nearer)) {
      best_correct = correct;
      best_total = total;
      best = threshold;
    }
  }
  return best;
}

std::string thresholds_text(const std::vector<float>& thresholds, const std::vector<std::string>& labels) {
  std::string text;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    char number[32];
    text.append(number, std::to_chars(number, number + sizeof(number), thresholds[k]).ptr);
    text += " " + labels[k] + "\n";
  }
  return text;
}

std::vector<float> thresholds_from_text(std::string_view text, const std::vector<std::string>& labels) {
  std::vector<float> thresholds;
  for (const std::string& label : labels) {
    const std::string_view line = text.substr(0, text.find('\n'));
    float threshold = 0.0F;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), threshold);
    const std::string_view rest = line.substr(static_cast<std::size_t>(parsed.ptr - line.data()));
    if (parsed.ec != std::errc() || rest != " " + label)
      throw Error("the tuned thresholds belong to other labels: found \"" + std::string(line) +
                  "\" in the place of \"" + label + "\"");
    thresholds.push_back(threshold);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  if (!text.empty()) throw Error("the tuned thresholds are for more labels than the run has");
  return thresholds;
}

}  // namespace encore::multilabel
