// SPDX-License-Identifier: BSD-3-Clause
// main() of encore-worker-export, the program of the verb export. encore-worker becomes it (program.hpp).
// `exp` never starts it by its own name. The name must stay encore-worker-VERB: program.cpp makes it from the
// verb. Read next: export_verb.cpp.
#include "worker/program.hpp"

int main(int argc, char** argv) {
  return encore::worker::run_worker_program(argc, argv, encore::worker::export_verbs());
}
