// Where a worker writes what exp or a user asked for. It is the standard output that the worker was started
// with, whoever started it (a pipe of exp, a shell, ssh, a scheduler, mpirun), under a descriptor that no
// library knows: what libraries and plugins print to the standard output (DNNL_VERBOSE,
// KOKKOS_PRINT_CONFIGURATION) goes to the standard error. Place in the flow: main.cpp -> here -> every verb
// that answers.
#pragma once

#include <iosfwd>

namespace encore {

/// Called first in main, before any library prints. Programs that this one starts get the standard error too.
void keep_answers_apart();

/// Answers go here and nothing else; from one thread at a time. Before keep_answers_apart: std::cout. What
/// was not flushed is written by require_answers_written.
std::ostream& answer_stream();

/// Throws Error where answers could not be written.
void require_answers_written();

}  // namespace encore
