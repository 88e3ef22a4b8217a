// verify: trains runs again and compares digests; the verdicts go into the database. verify_runs.hpp does it;
// that of a bundle is done by exp-report (bundle_verify.cpp).
#include "cli/bundle_verify.hpp"
#include "cli/components.hpp"
#include "cli/planned_search.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/verify_runs.hpp"
#include "world/cores.hpp"

namespace encore {

int verify_verb(const Arguments& arguments) {
  CommandLine line = make_verify_line();
  if (!line.parse(arguments)) return exit_done;
  require_threads(line.integer("threads"));
  check_rank_options(line);
  if (names_bundle(line)) become_component(line, arguments);
  refuse_bundle_options(line);

  Store store(line.database(), OpenMode::write);
  if (const auto search = named_search(store, line.texts("run"))) return verify_search(line, store, *search);
  const RunSelection selection = selection_from(line);
  const SelectedRuns selected = selected_runs(line, store, selection);
  return verify_runs(line, store, selected.runs, asks_for_one(selection, selected));
}

}  // namespace encore
