// exp hands over to a worker: this process becomes it, so that what it reads and writes flows straight
// through and a signal reaches it. Place in the flow: predict_verb.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace encore {

/// Makes `descriptor` the standard input of what is executed next. Throws Error.
void use_as_input(int descriptor);
/// The same of a text of any length.
void use_text_as_input(const std::string& text);

/// How threads of the worker wait for each other, unless the user has chosen ($OMP_WAIT_POLICY).
enum class ThreadWait : std::uint8_t {
  asleep,   ///< one text has less work than threads: who waits gives its core away
  briefly,  ///< spinning for a moment first: for many small steps, where waking up would cost more than the
            ///< work
};

/// This process becomes the program. Does not return; throws Error where the program cannot be started.
[[noreturn]] void become_program(const std::filesystem::path& program, std::vector<std::string> arguments);
/// The same with a worker.
[[noreturn]] void become_worker(const std::filesystem::path& program, std::vector<std::string> arguments,
                                ThreadWait waiting);

}  // namespace encore
