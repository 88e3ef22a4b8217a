// SPDX-License-Identifier: BSD-3-Clause
// Names and indices of columns, outputs and fields that both source files of the task "mlm" (mlm.cpp,
// answers.cpp) use. The order of the enum is that of Mlm::columns(); change both together.
#pragma once

#include <cstddef>

namespace encore::mlm {

/// The columns of an example, in the order of Mlm::columns().
enum Column : std::size_t { picked, targets, specials, words };

inline constexpr const char* candidates_output = "candidates";
inline constexpr const char* probabilities_output = "probabilities";
inline constexpr const char* losses_output = "losses";
inline constexpr const char* next_output = "next";
/// A field that marks records typed by a user, with masks in them.
inline constexpr const char* typed_field = "typed";

}  // namespace encore::mlm
