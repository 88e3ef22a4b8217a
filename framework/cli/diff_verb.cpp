// SPDX-License-Identifier: BSD-3-Clause
// exp diff: prints the differences of two runs, and with --drift how far their weights and losses are apart.
// app/diff.cpp finds them, difference_text.hpp prints the tables; help_verb.cpp lists the verb. Programs read
// the JSON and CSV: members and columns keep their names.
#include "app/diff.hpp"

#include "cli/difference_text.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

nlohmann::ordered_json json_of(const store::RunRow& run, bool told) {
  return {{"name", run.name},   {"id", run.id},         {"question", run.question},
          {"group", run.group}, {"repeat", run.repeat}, {"state", store::name_of(run.state)},
          {"told", told}};
}

std::string relation_of(const store::RunRow& a, const store::RunRow& b) {
  if (a.id == b.id) return "both are the same run";
  if (a.question == b.question && a.backend == b.backend) return "repeats of one run: the same question";
  if (a.question == b.question) return "the same question on two backends";
  if (a.group == b.group) return "the same except for the seed";
  return "two questions";
}

int diff_verb(const app::DiffRequest& request, app::App& app, Console& console) {
  const app::RunDifference result = app::diff(request, app);
  const store::RunRow &a = result.a, &b = result.b;
  if (request.json) {
    nlohmann::ordered_json object = {{"version", 1},
                                     {"a", json_of(a, result.a_told)},
                                     {"b", json_of(b, result.b_told)},
                                     {"differences", differences_json(result.found)}};
    if (result.drift) object["drift"] = to_json_object(*result.drift);
    console.print(object);
    return exit_done;
  }
  if (request.csv) {
    print_differences_csv(console.out, result.found);
    return exit_done;
  }
  console.out << relation_of(a, b) << '\n';
  if (result.found.empty())
    console.out << "nothing differs\n";
  else
    print_differences(console.out, console.terminal, result.found, a.name, b.name);
  if (!result.a_told || !result.b_told)
    console.out << (result.a_told ? b.name : a.name)
                << " has not started, so only settings and data were compared\n";
  if (result.drift) print_drift(console.out, console.terminal, *result.drift);
  return exit_done;
}

}  // namespace

Verb diff_verb() {
  return make_verb("diff", "show the differences of two runs", app::diff_form, diff_verb);
}

}  // namespace encore::cli
