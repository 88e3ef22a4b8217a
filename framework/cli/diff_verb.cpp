// diff: where two runs differ, from their settings to the host they ran on.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/difference_text.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

nlohmann::ordered_json json_of(const RunRow& run, const RunFacts& facts) {
  return {{"name", run.name},   {"id", run.id},         {"question", run.question},
          {"group", run.group}, {"repeat", run.repeat}, {"state", name_of(run.state)},
          {"told", facts.told}};
}

/// What only one of two runs can tell would all look like a difference.
void keep_question(Facts& facts) {
  std::erase_if(
      facts, [](const Field& field) { return field.section != "configuration" && field.section != "data"; });
}

std::string relation_of(const RunRow& a, const RunRow& b) {
  if (a.id == b.id) return "these are one and the same run";
  if (a.question == b.question && a.backend == b.backend) return "repeats of one run: the same question";
  if (a.question == b.question) return "the same question on two backends";
  if (a.group == b.group) return "the same but for the seed";
  return "two questions";
}

}  // namespace

int diff_verb(const Arguments& arguments) {
  CommandLine line(
      "diff",
      {"diff A B [--json]",
       "Where two runs differ: settings with the place each was written, content of the data, numeric\n"
       "environment, build, host, plugins and code of their last attempts. Only what differs is shown; where "
       "a file\n"
       "lies is no difference, what is in it is. A and B are names or beginnings of ids.",
       {{"exp diff quickstart quickstart", "nothing differs"},
        {"exp diff quickstart quickstart --json", "for a program, with whole hashes and patches"}}});
  line.options()("json", boost::program_options::bool_switch(), "as JSON");
  line.positional("a");
  line.positional("b");
  if (!line.parse(arguments)) return exit_done;

  const std::string first = line.required("a", "two runs"), second = line.required("b", "two runs");
  Store store(line.database(), OpenMode::read);
  const RunRow a = store.find_run(first), b = store.find_run(second);
  RunFacts facts_a = all_facts(store, a), facts_b = all_facts(store, b);
  const bool both_told = facts_a.told && facts_b.told;
  if (!both_told) {
    keep_question(facts_a.fields);
    keep_question(facts_b.fields);
  }
  const std::vector<Difference> found = differences(facts_a.fields, facts_b.fields);
  if (line.flag("json")) {
    std::cout << nlohmann::ordered_json{{"a", json_of(a, facts_a)},
                                        {"b", json_of(b, facts_b)},
                                        {"differences", differences_json(found)}}
                     .dump(2)
              << '\n';
    return exit_done;
  }
  std::cout << relation_of(a, b) << '\n';
  if (found.empty())
    std::cout << "nothing differs\n";
  else
    print_differences(std::cout, terminal_of(stdout), found, a.name, b.name);
  if (!both_told)
    std::cout << (facts_a.told ? b.name : a.name)
              << " has not begun, so only the settings and the data were compared\n";
  return exit_done;
}

}  // namespace encore
