// SPDX-License-Identifier: BSD-3-Clause
// CandidateKey has the names of candidates for people: a letter for each, and in the first table a column for
// every option that differs between them. Place in the flow: questions.cpp (reports) and `exp compare` make
// one, show it before their numbers, and write only the letters after that.
#pragma once

#include <string>
#include <vector>

#include "analysis/candidates.hpp"
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

}  // namespace encore::report
