// SPDX-License-Identifier: BSD-3-Clause
// ThreadAdaptation: writes and reads the environment variable ENCORE_ADAPT_THREADS. runner/places.cpp sets
// it, the worker reads it. Unknown values are refused. Read thread_adaptation.hpp first.
#include "record/thread_adaptation.hpp"

#include <cstdlib>

#include <encore/error.hpp>

namespace encore::record {

std::string name_of(ThreadAdaptation adaptation) {
  switch (adaptation) {
    case ThreadAdaptation::fixed:
      return "";
    case ThreadAdaptation::threads:
      return "threads";
    case ThreadAdaptation::threads_and_pins:
      return "threads,pins";
  }
  return "";
}

ThreadAdaptation thread_adaptation() {
  const char* value = std::getenv(thread_adaptation_variable);
  const std::string text = value == nullptr ? "" : value;
  for (const ThreadAdaptation one :
       {ThreadAdaptation::fixed, ThreadAdaptation::threads, ThreadAdaptation::threads_and_pins})
    if (text == name_of(one)) return one;
  throw Error(std::string(thread_adaptation_variable) + " is \"" + text +
              "\": expected \"threads\" or \"threads,pins\"; unset it, exp sets it");
}

}  // namespace encore::record
