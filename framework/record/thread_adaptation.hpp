// SPDX-License-Identifier: BSD-3-Clause
// ThreadAdaptation: what a training worker may change about its threads while other programs use the machine.
// Place in the flow: runner/places.cpp decides it when `exp` starts workers and passes it in the environment;
// worker/train_verb.cpp reads it. It changes speed only, because results do not depend on threads. A job in a
// queue may start a worker of a later version, so name and values of the variable do not change.
#pragma once

#include <cstdint>
#include <string>

namespace encore::record {

/// What a worker may change while it trains.
enum class ThreadAdaptation : std::uint8_t {
  fixed,             ///< nothing: the user chose the number of threads, or a measurement runs
  threads,           ///< the number of threads that compute
  threads_and_pins,  ///< also the cores to which exp has bound them
};

/// The environment variable that `exp` sets for a worker.
inline constexpr const char* thread_adaptation_variable = "ENCORE_ADAPT_THREADS";

/// Returns the value that the variable has for this adaptation: "threads", "threads,pins", or "" for `fixed`,
/// for which the variable is not set.
std::string name_of(ThreadAdaptation adaptation);
/// Returns what this process may change, by its environment; `fixed` if the variable is not set. Throws Error
/// for an unknown value.
ThreadAdaptation thread_adaptation();

}  // namespace encore::record
