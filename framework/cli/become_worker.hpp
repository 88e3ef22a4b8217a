// SPDX-License-Identifier: BSD-3-Clause
// become_worker() and become_program(): replace exp by another program in the same process, which then has
// exp's standard streams and receives its signals. predict_verb.cpp starts a worker so, components.cpp a
// component. Nothing after the call runs, so files must be closed and locks released before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace encore::cli {

/// Makes `descriptor` the standard input of the next program. Throws Error.
void use_as_input(int descriptor);
/// Makes a text of any length the standard input of the next program.
void use_text_as_input(const std::string& text);

/// How the worker's threads wait for each other, if the user has not set $OMP_WAIT_POLICY.
enum class ThreadWait : std::uint8_t {
  asleep,   ///< one text has too little work for all threads: a thread that waits gives its core away
  briefly,  ///< spinning for a moment first: for many small steps, where waking up would cost more than the
            ///< work
};

/// Replaces this process by the program. Does not return; throws Error if the program cannot start.
[[noreturn]] void become_program(const std::filesystem::path& program, std::vector<std::string> arguments);
/// Replaces this process by a worker, whose threads wait as `waiting` says.
[[noreturn]] void become_worker(const std::filesystem::path& program, std::vector<std::string> arguments,
                                ThreadWait waiting);

}  // namespace encore::cli
