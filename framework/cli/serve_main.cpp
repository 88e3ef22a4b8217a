// exp-serve, a component of exp: models behind HTTP, and monitoring of what they answer (components.hpp).
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::run_component_of_exp(
      argc, argv, {{"serve", encore::serve_in_component}, {"monitor", encore::monitor_in_component}});
}
