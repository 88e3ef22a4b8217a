// What a training worker may change about its threads while other programs use the machine. `exp` decides it
// where it starts workers (runner/places.cpp) and passes it in the environment, as it does the number of
// threads; the worker reads it (worker/train_verb.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace encore {

enum class ThreadAdaptation : std::uint8_t {
  fixed,             ///< nothing: the user chose the number of threads, or something is measured
  threads,           ///< how many of them compute
  threads_and_pins,  ///< also the cores to which exp has bound them
};

inline constexpr const char* thread_adaptation_variable = "ENCORE_ADAPT_THREADS";

/// The value of the variable; empty: it is not set.
std::string name_of(ThreadAdaptation adaptation);
/// Of this process; `fixed` where the variable is not set. Throws Error for a value that is none of them.
ThreadAdaptation thread_adaptation();

}  // namespace encore
