// SPDX-License-Identifier: BSD-3-Clause
// main() of exp-report, a component of exp: documents about runs, and bundles. exp replaces itself by it
// (components.hpp).
#include "cli/components.hpp"
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return encore::run_component_of_exp(
      argc, argv,
      {encore::report_of_component(), encore::compare_of_component(), encore::attention_of_component(),
       encore::export_of_component(), encore::bundle_of_component(), encore::bundle_show_of_component(),
       encore::db_merge_of_component(), encore::verify_of_component()});
}
