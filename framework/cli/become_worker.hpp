// Replaces exp by a worker in the same process, so that the worker has exp's standard streams and receives
// its signals. predict_verb.cpp uses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace encore {

/// Makes `descriptor` the standard input of the next program. Throws Error.
void use_as_input(int descriptor);
/// The same for a text of any length.
void use_text_as_input(const std::string& text);

/// How the worker's threads wait for each other, if the user has not set $OMP_WAIT_POLICY.
enum class ThreadWait : std::uint8_t {
  asleep,   ///< one text has less work than threads: who waits gives its core away
  briefly,  ///< spinning for a moment first: for many small steps, where waking up would cost more than the
            ///< work
};

/// Replaces this process by the program. Does not return; throws Error if the program cannot start.
[[noreturn]] void become_program(const std::filesystem::path& program, std::vector<std::string> arguments);
/// The same for a worker.
[[noreturn]] void become_worker(const std::filesystem::path& program, std::vector<std::string> arguments,
                                ThreadWait waiting);

}  // namespace encore
