// The names and numbers by which the two halves of Mlm (mlm.cpp, answers.cpp) find columns, outputs and
// fields.
#pragma once

#include <cstddef>

namespace encore::mlm {

/// The columns of an example, in the order of Mlm::columns().
enum Column : std::size_t { picked, targets, specials, words };

inline constexpr const char* candidates_output = "candidates";
inline constexpr const char* probabilities_output = "probabilities";
inline constexpr const char* losses_output = "losses";
inline constexpr const char* next_output = "next";
/// A field of records that a user typed: it is masked already.
inline constexpr const char* typed_field = "typed";

}  // namespace encore::mlm
