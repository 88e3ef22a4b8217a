// What `exp compare` says of candidates and their pairs: tables for people, JSON and CSV for programs.
#pragma once

#include <iosfwd>

#include <nlohmann/json_fwd.hpp>

#include "cli/terminal.hpp"
#include "report/comparison.hpp"

namespace encore {

/// Candidates, pairs, a sentence for each pair, and the ranking where there is one.
void print_comparison(std::ostream& out, const Terminal& terminal, const Comparison& comparison);
nlohmann::ordered_json comparison_json(const Comparison& comparison);
/// A record a candidate, behind a header.
void print_candidates_csv(std::ostream& out, const Comparison& comparison);
void print_pairs_csv(std::ostream& out, const Comparison& comparison);

}  // namespace encore
