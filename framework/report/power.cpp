// SPDX-License-Identifier: BSD-3-Clause
// power_text() finds the pairs that need more seeds for a decision, and writes a sentence with the smallest
// and the largest number; refusal_texts() says why pairs were not tested. answer.cpp, numbers.cpp and `exp
// compare` call them. candidate_key.hpp declares both; read it first.
#include "report/candidate_key.hpp"

#include <algorithm>
#include <cmath>

#include "base/readable_text.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

std::string pair_name(const analysis::Pair& pair, const std::vector<std::string>& letters) {
  return letters[pair.a] + " and " + letters[pair.b];
}

/// Returns the number of seeds that a decision would take: "about 12 seeds", or "about 12 (A and B) to 300
/// seeds (A and C)".
std::string seeds_text(std::vector<const analysis::Pair*> pairs, const std::vector<std::string>& letters) {
  const auto needs = [](const analysis::Pair* pair) {
    return pair->needed ? static_cast<double>(*pair->needed) : HUGE_VAL;
  };
  const auto [least, most] = std::minmax_element(
      pairs.begin(), pairs.end(),
      [&](const analysis::Pair* a, const analysis::Pair* b) { return needs(a) < needs(b); });
  const auto text = [](const analysis::Pair* pair) {
    return pair->needed ? thousands(static_cast<std::int64_t>(*pair->needed)) : std::string("a million");
  };
  if (!(*least)->needed) return "more than a million seeds";
  if (needs(*least) == needs(*most)) return "about " + text(*least) + " seeds";
  return "about " + text(*least) + " (" + pair_name(**least, letters) + ") to " +
         ((*most)->needed ? "" : "more than ") + text(*most) + " seeds (" + pair_name(**most, letters) + ")";
}

}  // namespace

std::string power_text(const analysis::Comparison& comparison, const std::vector<std::string>& letters) {
  const analysis::CompareOptions& options = comparison.options;
  std::vector<const analysis::Pair*> open;
  for (const analysis::Pair& pair : comparison.pairs)
    if (pair.verdict == analysis::Verdict::undecided) open.push_back(&pair);
  if (open.empty()) return "";
  const std::string at =
      document::number_text(100.0 * options.power) + " % power at alpha " +
      document::number_text(options.alpha) +
      (comparison.family > 1 ? " over " + std::to_string(comparison.family) + " pairs" : "");
  const std::string who = comparison.pairs.size() == 1
                              ? pair_name(*open.front(), letters) + " are not distinguished"
                              : std::to_string(open.size()) + " of " +
                                    std::to_string(comparison.pairs.size()) + " pairs are not distinguished";
  if (!options.detect)
    return who + "; to show " + (open.size() == 1 ? "the difference" : "the differences") + " seen, with " +
           at + ", would take " + seeds_text(open, letters) + " of each candidate.";
  std::vector<const analysis::Pair*> few;
  for (const analysis::Pair* pair : open)
    if (!pair->needed || *pair->needed > pair->counted) few.push_back(pair);
  const std::string difference = analysis::metric_text(options.metric, *options.detect);
  if (few.empty())
    return who + "; the seeds are enough to show a difference of " + difference + " (" + at + ").";
  return who + "; to show a difference of " + difference + ", with " + at + ", would take " +
         seeds_text(few, letters) + " of each candidate.";
}

std::vector<std::string> refusal_texts(const analysis::Comparison& comparison,
                                       const std::vector<std::string>& letters) {
  constexpr std::size_t most_pairs = 6;
  std::vector<std::string> reasons;
  std::vector<std::vector<std::string>> pairs;
  for (const analysis::Pair& pair : comparison.pairs) {
    if (pair.verdict != analysis::Verdict::refused) continue;
    const auto known = std::find(reasons.begin(), reasons.end(), pair.reason);
    if (known == reasons.end()) {
      reasons.push_back(pair.reason);
      pairs.push_back({pair_name(pair, letters)});
    } else {
      pairs[static_cast<std::size_t>(known - reasons.begin())].push_back(pair_name(pair, letters));
    }
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    std::string who;
    for (std::size_t k = 0; k < std::min(most_pairs, pairs[i].size()); ++k)
      who += (k == 0 ? "" : ", ") + pairs[i][k];
    if (pairs[i].size() > most_pairs) who += ", and " + counted(pairs[i].size() - most_pairs, "more pair");
    texts.push_back("No test of " + who + ": " + reasons[i] + (reasons[i].ends_with('?') ? "" : "."));
  }
  return texts;
}

}  // namespace encore::report
