// The number of seeds that tests without a decision would have needed, in one sentence for all pairs.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.hpp"

namespace encore {

/// "3 of 6 pairs are not distinguished; with 80 % power at alpha 0.05 over 6 pairs the differences that were
/// seen would take from about 9 (A, D) to about 4,300 seeds (B, C)." Empty if every pair is distinguished or
/// refused.
std::string power_text(const Comparison& comparison, const std::vector<std::string>& letters);

/// The reasons why pairs were not tested, each once: "No test of A and B, A and C: ...".
std::vector<std::string> refusal_texts(const Comparison& comparison, const std::vector<std::string>& letters);

}  // namespace encore
