// SPDX-License-Identifier: BSD-3-Clause
// Allocates a signal stack for a thread, and installs handlers that run on it. The worker's main and
// train/adaptive_threads.cpp call add_signal_stack() for each thread; worker/train_verb.cpp installs the
// handlers by which a run stops. crash_line.cpp installs its own, because they need the cause of the signal.
// The flags must stay; the size of the stack may grow. Read signal_stack.hpp first.
#include "record/signal_stack.hpp"

#include <signal.h>

#include <cstddef>
#include <cstdlib>

namespace encore::record {
namespace {

/// A handler needs little; libraries that it interrupts may have put large frames below it.
constexpr std::size_t signal_stack_bytes = 64 << 10;

/// Holds the memory of one thread's signal stack. A thread that ends takes it out of use.
class SignalStack {
 public:
  SignalStack() : memory_(std::malloc(signal_stack_bytes)) {
    if (memory_ == nullptr) return;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = signal_stack_bytes;
    ::sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (memory_ != nullptr) ::sigaltstack(&none, nullptr);
    std::free(memory_);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_;
};

}  // namespace

void add_signal_stack() {
  static thread_local const SignalStack stack;
  static_cast<void>(stack);
}

void handle_on_signal_stack(int signal, void (*handler)(int)) {
  add_signal_stack();
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace encore::record
