// SPDX-License-Identifier: BSD-3-Clause
// power_text(): the number of seeds that undecided tests would have needed, in one sentence for all pairs of
// a comparison. Place in the flow: analysis computes the numbers (Comparison) -> here -> tables of reports
// and `exp compare`.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.hpp"

namespace encore::report {

/// Returns "3 of 6 pairs are not distinguished; with 80 % power at alpha 0.05 over 6 pairs the differences
/// that were seen would take from about 9 (A, D) to about 4,300 seeds (B, C)."; empty if every pair is
/// distinguished or refused.
std::string power_text(const analysis::Comparison& comparison, const std::vector<std::string>& letters);

/// Returns the reasons why pairs were not tested, each once: "No test of A and B, A and C: ...".
std::vector<std::string> refusal_texts(const analysis::Comparison& comparison,
                                       const std::vector<std::string>& letters);

}  // namespace encore::report
