// What `exp compare` says of candidates and their pairs: tables for people, JSON and CSV for programs.
#pragma once

#include <iosfwd>

#include <nlohmann/json_fwd.hpp>

#include "analysis/comparison.hpp"
#include "cli/terminal.hpp"
#include "report/candidate_key.hpp"

namespace encore {

/// Candidates by their letters with what they differ in, pairs, what the tests say, and the ranking where
/// there is one.
void print_comparison(std::ostream& out, const Terminal& terminal, const Comparison& comparison,
                      const CandidateKey& key);
nlohmann::ordered_json comparison_json(const Comparison& comparison, const CandidateKey& key);
/// A record a candidate, behind a header.
void print_candidates_csv(std::ostream& out, const Comparison& comparison, const CandidateKey& key);
void print_pairs_csv(std::ostream& out, const Comparison& comparison);

}  // namespace encore
