// SPDX-License-Identifier: BSD-3-Clause
// main() of encore-worker-check-plugin, the program of the verb check-plugin. encore-worker becomes it
// (program.hpp). `exp` never starts it by its own name. The name must stay encore-worker-VERB: program.cpp
// makes it from the verb. Read next: check_plugin_verb.cpp.
#include "worker/program.hpp"

int main(int argc, char** argv) {
  return encore::worker::run_worker_program(argc, argv, encore::worker::check_plugin_verbs());
}
