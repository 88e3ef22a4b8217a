// SPDX-License-Identifier: BSD-3-Clause
// main() of exp-report, a component of exp: documents about runs, and bundles. exp replaces itself by it
// (components.hpp). It only names its verbs; what all components share is in program.cpp. A new verb of
// exp-report is also added to components.cpp.
#include "cli/components.hpp"
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::cli::run_component_of_exp(
      argc, argv,
      {encore::cli::report_of_component(), encore::cli::compare_of_component(),
       encore::cli::attention_of_component(), encore::cli::export_of_component(),
       encore::cli::bundle_of_component(), encore::cli::bundle_show_of_component(),
       encore::cli::db_merge_of_component(), encore::cli::verify_of_component()});
}
