// SPDX-License-Identifier: BSD-3-Clause
// main() of exp-index, a component of exp: indexes of documents outside of an application. exp replaces
// itself by it (components.hpp). It only names its verbs; what all components share is in program.cpp. A new
// verb of exp-index is also added to components.cpp.
#include "cli/components.hpp"
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::cli::run_component_of_exp(argc, argv, encore::cli::verbs_of_index());
}
