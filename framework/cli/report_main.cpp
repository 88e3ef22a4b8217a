// exp-report, a component of exp: documents about runs, and bundles (components.hpp).
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::run_component_of_exp(argc, argv,
                                      {{"report", encore::report_in_component},
                                       {"compare", encore::compare_in_component},
                                       {"attention", encore::attention_in_component},
                                       {"export", encore::export_in_component},
                                       {"bundle", encore::bundle_in_component},
                                       {"bundle show", encore::bundle_show_in_component},
                                       {"db merge", encore::db_merge_in_component},
                                       {"verify", encore::verify_in_component}});
}
