// SPDX-License-Identifier: BSD-3-Clause
// exp-bench, a component of exp: measurements of this machine (components.hpp).
#include "cli/components.hpp"
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::run_component_of_exp(argc, argv, encore::verbs_of_bench());
}
