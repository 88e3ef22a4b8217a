// Finds the component of a verb and becomes it (components.hpp).
#include "cli/components.hpp"

#include <algorithm>

#include "cli/become_worker.hpp"
#include "runner/programs.hpp"
#include "store/encore_database.hpp"

namespace encore {

std::string component_of(const std::string& verb) {
  const std::size_t blank = verb.find(' ');
  const Verb& found = find_verb(verb.substr(0, blank));
  if (blank == std::string::npos || found.actions == nullptr) return found.component;
  const std::vector<Verb>& actions = found.actions();
  return std::ranges::find(actions, verb.substr(blank + 1), &Verb::name)->component;
}

int run_in_component(CommandLine line, const Arguments& arguments) {
  if (!line.parse(arguments)) return exit_done;
  become_component(line, arguments);
}

void become_component(const CommandLine& line, const Arguments& arguments) {
  // The component refuses another version, which a build that was interrupted may leave beside this program.
  std::vector<std::string> words = {line.verb(), std::to_string(schema_version)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Programs programs = installed_programs();
  const std::string component = component_of(line.verb());
  require_component(programs, programs.backend, component);
  become_program(programs.folder / component, std::move(words));
}

}  // namespace encore
