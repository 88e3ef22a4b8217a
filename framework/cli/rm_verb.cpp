// SPDX-License-Identifier: BSD-3-Clause
// exp rm and exp undelete: print which runs were hidden, removed or restored. app/removal.cpp does it and
// asks first; help_verb.cpp lists the verbs. Programs read the JSON: members keep their names. Read next:
// app/removal.hpp.
#include <nlohmann/json.hpp>

#include "app/removal.hpp"
#include "cli/run_json.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

void print_outcome_json(Console& console, const std::vector<store::RunRow>& runs, const char* outcome) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const store::RunRow& run : runs) list.push_back(run_head_json(run));
  console.print({{"version", 1}, {"outcome", outcome}, {"runs", list}});
}

int rm_verb(const app::RmRequest& request, app::App& app, Console& console) {
  const app::RmResult result = app::remove_runs(request, app);
  if (request.json) {
    print_outcome_json(console, result.runs,
                       result.declined ? "declined"
                       : request.purge ? "purged"
                                       : "removed");
    return exit_done;
  }
  if (result.declined) console.out << "nothing was done\n";
  for (const store::RunRow& run : result.declined ? std::vector<store::RunRow>() : result.runs)
    if (request.purge)
      console.out << run.name << " (" << run.id << ") is removed for good\n";
    else
      console.out << run.name << " is hidden from exp ls; " << console.suggestion({"undelete", run.name})
                  << " restores it\n";
  return exit_done;
}

int undelete_verb(const app::UndeleteRequest& request, app::App& app, Console& console) {
  const std::vector<store::RunRow> runs = app::undelete_runs(request, app);
  if (request.json)
    print_outcome_json(console, runs, "back");
  else
    for (const store::RunRow& run : runs)
      console.out << run.name << " (" << store::name_of(run.state) << ") is restored\n";
  return exit_done;
}

}  // namespace

Verb rm_verb() {
  return make_verb("rm", "hide runs from exp ls, or remove them for good", app::rm_form, rm_verb);
}

Verb undelete_verb() {
  return make_verb("undelete", "restore runs that rm has hidden", app::undelete_form, undelete_verb);
}

}  // namespace encore::cli
