// SPDX-License-Identifier: BSD-3-Clause
// Signal stacks: memory on which a thread runs signal handlers, in place of its own stack. Place in the flow:
// each thread of a worker gets one (worker/program.cpp, train/adaptive_threads.cpp), and every handler of a
// worker runs on it. The reason is the matrix product of oneDNN on CPUs without AVX-512: while it computes,
// the stack pointer lies in memory that it has allocated. The system would write the frame of a handler below
// this pointer, over other objects of the heap. So no handler of a worker may be installed without
// SA_ONSTACK.
#pragma once

namespace encore::record {

/// Gives the calling thread a stack for signal handlers, which also run if the thread's own stack is used up.
/// Each thread needs one. A second call changes nothing.
void add_signal_stack();

/// Calls `handler` on the signal stack of a thread when `signal` arrives. System calls that it interrupts are
/// restarted. The handler may only do what is safe in a handler (signal-safety(7)).
void handle_on_signal_stack(int signal, void (*handler)(int));

}  // namespace encore::record
