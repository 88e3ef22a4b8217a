// SPDX-License-Identifier: BSD-3-Clause
// best_threshold() chooses the threshold of the option no_answer: a question is answered if its lead, which
// is the score of no answer ([CLS]) less that of the best part of the context, is at most the threshold. It
// tries a value halfway between each two neighbouring leads and one beyond each end. The largest sum of gains
// wins, of equal sums the threshold nearest to `usual`. Qa::tune calls it; a run stores threshold_text(),
// which Qa::use reads back, so that form must not change. Read threshold.hpp first.
#include "threshold.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include <encore/error.hpp>

namespace encore::qa {
namespace {

/// The end of the stored text, after the number. It must not change.
constexpr std::string_view behind_number = " no_answer_threshold\n";

}  // namespace

double best_threshold(std::vector<Judged> questions, double usual) {
  std::ranges::stable_sort(questions, {}, &Judged::lead);
  double sum = 0.0, best_sum = 0.0, best = usual;
  bool chosen = false;
  const auto consider = [&](double threshold) {
    const bool nearer = std::abs(threshold - usual) < std::abs(best - usual);
    if (chosen && (sum < best_sum || (sum == best_sum && !nearer))) return;
    chosen = true;
    best_sum = sum;
    best = threshold;
  };
  if (!questions.empty()) consider(questions.front().lead - 1.0);  // answer no question
  for (std::size_t i = 0; i < questions.size(); ++i) {
    sum += questions[i].gain;
    if (i + 1 == questions.size())
      consider(questions[i].lead + 1.0);
    else if (questions[i].lead < questions[i + 1].lead)
      consider(questions[i].lead + (questions[i + 1].lead - questions[i].lead) / 2.0);
  }
  return best;
}

std::string threshold_text(double threshold) {
  char number[32];
  return std::string(number, std::to_chars(number, number + sizeof(number), threshold).ptr) +
         std::string(behind_number);
}

double threshold_from_text(std::string_view text) {
  double threshold = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), threshold);
  if (parsed.ec != std::errc() ||
      text.substr(static_cast<std::size_t>(parsed.ptr - text.data())) != behind_number)
    throw Error("invalid tuned threshold \"" + std::string(text) + "\"");
  return threshold;
}

}  // namespace encore::qa
