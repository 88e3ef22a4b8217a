// SPDX-License-Identifier: BSD-3-Clause
// The stream to which a worker writes its answers for exp or a user. It is the standard output with which the
// worker was started (a pipe of exp, a shell, ssh, a scheduler, mpirun), under a descriptor that no library
// knows: whatever libraries and plugins print to the standard output (DNNL_VERBOSE,
// KOKKOS_PRINT_CONFIGURATION) goes to the standard error. main.cpp calls it first, then every verb that
// answers uses it.
#pragma once

#include <iosfwd>

#include <nlohmann/json_fwd.hpp>

namespace encore {

/// Called first in main, before any library prints. Programs that this one starts get the standard error too.
void keep_answers_apart();

/// Returns the stream for answers only; one thread at a time may use it. Before keep_answers_apart() it is
/// std::cout. require_answers_written() writes what was not flushed.
std::ostream& answer_stream();

/// Writes a line. Bytes that are not UTF-8 are replaced.
void write_answer(const nlohmann::json& answer);

/// Throws Error if answers could not be written.
void require_answers_written();

}  // namespace encore
