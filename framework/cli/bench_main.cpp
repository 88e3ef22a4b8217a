// exp-bench, a component of exp: measurements of this machine (components.hpp).
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::run_component_of_exp(argc, argv,
                                      {{"bench", encore::bench_in_component},
                                       {"bench ls", encore::bench_ls_in_component},
                                       {"bench show", encore::bench_show_in_component}});
}
