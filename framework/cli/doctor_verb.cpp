// doctor: what this machine has and lacks, each with what to do about it.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/doctor_checks.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

Cell health_cell(Health health) {
  switch (health) {
    case Health::good:
      return {health_name(health), Style::green};
    case Health::absent:
      return {health_name(health)};
    case Health::warning:
      return {health_name(health), Style::yellow};
    case Health::problem:
      return {health_name(health), Style::red};
  }
  return {health_name(health)};
}

void print_findings(const std::vector<DoctorFinding>& findings) {
  Table table({{"ABOUT"}, {"WHAT"}, {"STATE"}, {"FOUND"}});
  for (const DoctorFinding& finding : findings)
    table.add({finding.group, finding.what, health_cell(finding.health), finding.found});
  table.print(std::cout, terminal_of(stdout));
  const bool advice =
      std::ranges::any_of(findings, [](const DoctorFinding& one) { return !one.advice.empty(); });
  if (advice) std::cout << "\nwhat to do\n";
  for (const DoctorFinding& finding : findings)
    if (!finding.advice.empty()) std::cout << "  " << finding.what << ": " << finding.advice << '\n';
}

void print_json(const std::vector<DoctorFinding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DoctorFinding& finding : findings)
    list.push_back({{"about", finding.group},
                    {"what", finding.what},
                    {"state", health_name(finding.health)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace

int doctor_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "doctor", {"doctor [--json] [options]",
                 "Looks at what this machine has and lacks: worker and plugins, compilers, MPI, GPU and "
                 "Slurm, the file system of the database's folder, limits and the clock, each with what to "
                 "do about it. The exit code is 1 where something is missing that every training needs.",
                 {{"exp doctor", "before the first run on a machine"},
                  {"exp doctor --json", "for a program, such as a site's own checks"}}});
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "whose worker is looked at (default: that of this build)");
  if (!line.parse(arguments)) return exit_done;
  const Programs programs = installed_programs();
  const std::vector<DoctorFinding> findings =
      examine({.programs = programs, .backend = backend_of(line, programs), .database = line.database()});
  if (line.flag("json"))
    print_json(findings);
  else
    print_findings(findings);
  const bool problem =
      std::ranges::any_of(findings, [](const DoctorFinding& one) { return one.health == Health::problem; });
  return problem ? exit_failed : exit_done;
}

}  // namespace encore
