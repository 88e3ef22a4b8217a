// SPDX-License-Identifier: BSD-3-Clause
// Tests handle_on_signal_stack() (record/signal_stack.hpp): a handler must run on the signal stack of the
// thread that it interrupts, because oneDNN moves the stack pointer into the heap while it computes. Without
// this, a worker that got SIGTERM during a product overwrote its own memory.
#include "record/signal_stack.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <thread>

namespace encore::record {
namespace {

volatile std::uintptr_t place_of_frame = 0;

void note_place(int) {
  const char here = 0;
  place_of_frame = reinterpret_cast<std::uintptr_t>(&here);
}

/// Returns whether the handler of SIGUSR1 runs on the signal stack of the calling thread.
bool runs_on_signal_stack() {
  stack_t stack{};
  if (::sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) != 0) return false;
  place_of_frame = 0;
  ::raise(SIGUSR1);
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return place_of_frame >= begin && place_of_frame < begin + stack.ss_size;
}

TEST(SignalStack, HoldsTheHandlersOfEachThread) {
  handle_on_signal_stack(SIGUSR1, note_place);
  EXPECT_TRUE(runs_on_signal_stack());
  bool with_stack = false, without = true;
  std::thread([&] {
    without = runs_on_signal_stack();
    add_signal_stack();
    with_stack = runs_on_signal_stack();
  }).join();
  EXPECT_TRUE(with_stack);
  EXPECT_FALSE(without) << "a new thread has no signal stack before add_signal_stack()";

  // The usual way to install a handler is the one that the test must distinguish.
  ::signal(SIGUSR1, note_place);
  EXPECT_FALSE(runs_on_signal_stack());
  ::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace encore::record
