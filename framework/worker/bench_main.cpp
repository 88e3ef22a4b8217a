// SPDX-License-Identifier: BSD-3-Clause
// main() of encore-worker-bench, the program of the verb bench. encore-worker becomes it (program.hpp). Read
// next: bench_verb.cpp. `exp` never starts it by its own name. The name must stay encore-worker-VERB:
// program.cpp makes it from the verb.
#include "worker/program.hpp"

int main(int argc, char** argv) {
  return encore::worker::run_worker_program(argc, argv, encore::worker::bench_verbs());
}
