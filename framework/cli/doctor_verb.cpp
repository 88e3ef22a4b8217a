// SPDX-License-Identifier: BSD-3-Clause
// exp doctor: prints the findings about this machine, with advice. app/doctor.cpp makes the checks;
// help_verb.cpp lists the verb. A finding that prevents every training makes the exit code a failure.
// Programs read JSON and CSV: members and columns keep their names.
#include "app/doctor.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

Cell health_cell(app::Health health) {
  switch (health) {
    case app::Health::good:
      return {app::health_name(health), Style::green};
    case app::Health::absent:
      return {app::health_name(health)};
    case app::Health::warning:
      return {app::health_name(health), Style::yellow};
    case app::Health::problem:
      return {app::health_name(health), Style::red};
  }
  return {app::health_name(health)};
}

nlohmann::ordered_json json_of(const std::vector<app::DoctorFinding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const app::DoctorFinding& finding : findings)
    list.push_back({{"about", finding.group},
                    {"what", finding.what},
                    {"state", app::health_name(finding.health)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  return list;
}

void print_findings(const std::vector<app::DoctorFinding>& findings, bool csv, Console& console) {
  std::vector<TableColumn> columns = {{"ABOUT"}, {"WHAT"}, {"STATE"}, {"FOUND"}};
  if (csv) columns.push_back({"ADVICE"});
  Table table(columns);
  for (const app::DoctorFinding& finding : findings) {
    std::vector<Cell> row = {finding.group, finding.what, health_cell(finding.health), finding.found};
    if (csv) row.emplace_back(finding.advice);
    table.add(std::move(row));
  }
  if (csv) return table.print_csv(console.out);
  table.print(console.out, console.terminal);
  const bool advice =
      std::ranges::any_of(findings, [](const app::DoctorFinding& one) { return !one.advice.empty(); });
  if (advice) console.out << "\nwhat to do\n";
  for (const app::DoctorFinding& finding : findings)
    if (!finding.advice.empty()) console.out << "  " << finding.what << ": " << finding.advice << '\n';
}

int doctor_verb(const app::DoctorRequest& request, app::App& app, Console& console) {
  const std::vector<app::DoctorFinding> findings = app::examine(request, app);
  if (request.json)
    console.print(json_of(findings));
  else
    print_findings(findings, request.csv, console);
  const bool problem = std::ranges::any_of(
      findings, [](const app::DoctorFinding& one) { return one.health == app::Health::problem; });
  return problem ? exit_failed : exit_done;
}

}  // namespace

Verb doctor_verb() {
  return make_verb("doctor", "check this machine, with advice for what is missing", app::doctor_form,
                   doctor_verb);
}

}  // namespace encore::cli
