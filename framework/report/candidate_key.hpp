// The names of candidates for people: a letter each, and in the first table a column for
// every option that differs between them. Place in the flow: a report (questions.cpp) and `exp compare`
// make one, show it in front of their numbers, and write letters from there on.
#pragma once

#include <string>
#include <vector>

#include "analysis/candidates.hpp"
#include "analysis/factors.hpp"

namespace encore {

struct CandidateKey {
  std::vector<std::string> letters = {};  ///< "A" ... "Z", "AA"; of a lone candidate its name
  std::vector<std::string> options = {};  ///< "attention", "learning_rate"; none of a lone candidate
  std::vector<std::vector<std::string>> values = {};  ///< of each candidate, one per option

  /// "self_attention, 0.001"; empty for a lone candidate.
  std::string summary(std::size_t candidate) const;
  /// "A (self_attention, 0.001)": for the first mention of a candidate.
  std::string introduced(std::size_t candidate) const;
  /// "A: self_attention, 0.001", or the letter alone where that would be too long for a picture.
  std::string legend(std::size_t candidate) const;
};

/// `factors` are those of `runs`. Letters follow `order` (all candidates, each once) and begin with the
/// `first`-th. If the options do not distinguish all candidates, the first column holds `names`.
CandidateKey make_key(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& order,
                      const std::vector<std::string>& names, const std::vector<RunRow>& runs,
                      const std::vector<Factor>& factors, std::size_t first = 0);

/// "A" for 0, "Z" for 25, "AA" for 26.
std::string letter_of(std::size_t number);

}  // namespace encore
