// SPDX-License-Identifier: BSD-3-Clause
// What people read about the candidates of a comparison. CandidateKey (candidate_key.cpp) has their names: a
// letter for each, and in the first table a column for every option that differs between them. power_text()
// and refusal_texts() (power.cpp) say how many seeds undecided tests would need and why pairs were not
// tested. questions.cpp (reports) and `exp compare` (cli/compare_verb.cpp) make a key, show it before their
// numbers, and write only the letters after that.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.hpp"
#include "analysis/factors.hpp"

namespace encore::report {

struct CandidateKey {
  std::vector<std::string> letters = {};  ///< "A" ... "Z", "AA"; the name if there is only one candidate
  std::vector<std::string> options = {};  ///< "attention"; none if there is only one candidate
  std::vector<std::vector<std::string>> values = {};  ///< for each candidate one value per option

  /// Returns the values of a candidate: "self_attention, 0.001"; empty if there is only one candidate.
  std::string summary(std::size_t candidate) const;
  /// Returns "A (self_attention, 0.001)", for the first mention of a candidate.
  std::string introduced(std::size_t candidate) const;
  /// Returns "A: self_attention, 0.001", or only the letter if that would be too long for a picture.
  std::string legend(std::size_t candidate) const;
};

/// Makes the key. `factors` are those of `runs`. Letters follow `order` (all candidates, each once) and begin
/// with the `first`-th letter. If the options do not distinguish all candidates, the first column holds
/// `names`.
CandidateKey make_key(const std::vector<analysis::Candidate>& candidates,
                      const std::vector<std::size_t>& order, const std::vector<std::string>& names,
                      const std::vector<store::RunRow>& runs, const std::vector<analysis::Factor>& factors,
                      std::size_t first = 0);

/// Returns "A" for 0, "Z" for 25, "AA" for 26.
std::string letter_of(std::size_t number);

/// Returns "3 of 6 pairs are not distinguished; with 80 % power at alpha 0.05 over 6 pairs the differences
/// that were seen would take from about 9 (A, D) to about 4,300 seeds (B, C)."; empty if every pair is
/// distinguished or refused.
std::string power_text(const analysis::Comparison& comparison, const std::vector<std::string>& letters);

/// Returns the reasons why pairs were not tested, each once: "No test of A and B, A and C: ...".
std::vector<std::string> refusal_texts(const analysis::Comparison& comparison,
                                       const std::vector<std::string>& letters);

}  // namespace encore::report
