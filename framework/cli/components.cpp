// The verbs that components do, as exp has them: it reads their requests, and becomes the component.
#include "cli/components.hpp"

#include <algorithm>

#include "app/bench_requests.hpp"
#include "app/bundle_requests.hpp"
#include "app/document_requests.hpp"
#include "app/serving_requests.hpp"
#include "cli/become_worker.hpp"
#include "runner/programs.hpp"
#include "store/encore_database.hpp"

namespace encore {

namespace {

/// A wrong request is refused before the component is looked for, which may have to be built. `verb` may have
/// an action.
template <class Request>
int run_in_component(const std::string& verb, Form<Request> (*form)(), const Arguments& arguments,
                     Console& console) {
  return run_bound(form(), arguments, console,
                   [&](const Request&, App&, Console&) -> int { become_component(verb, arguments); });
}

template <class Request>
Verb make_component_verb(const std::string& name, const std::string& summary, const std::string& component,
                         Form<Request> (*form)(), const std::string& before = {}) {
  return {.name = name,
          .summary = summary,
          .run = [name = before + name, form](
                     const Arguments& arguments,
                     Console& console) { return run_in_component(name, form, arguments, console); },
          .form = form,
          .component = component};
}

/// "bundle show FILE", but not "bundle show -o FILE.tar.zst", which packs a run called "show": packing needs
/// -o, and show has no such option.
bool asks_for_show(const Arguments& arguments) {
  const auto is_output = [](const std::string& word) {
    return word.starts_with("--output") || (word.starts_with("-o") && !word.starts_with("--"));
  };
  return !arguments.empty() && arguments.front() == "show" && std::ranges::none_of(arguments, is_output);
}

int run_bundle_verb(const Arguments& arguments, Console& console) {
  if (!asks_for_show(arguments)) return run_in_component("bundle", bundle_form, arguments, console);
  return run_in_component("bundle show", bundle_show_form, {arguments.begin() + 1, arguments.end()}, console);
}

int run_bench_verb(const Arguments& arguments, Console& console) {
  const std::string action = arguments.empty() ? "" : arguments.front();
  if (action != "ls" && action != "show") return run_in_component("bench", bench_form, arguments, console);
  const Arguments rest = {arguments.begin() + 1, arguments.end()};
  return action == "ls" ? run_in_component("bench ls", bench_ls_form, rest, console)
                        : run_in_component("bench show", bench_show_form, rest, console);
}

}  // namespace

std::string component_of(const std::string& verb) {
  const std::size_t blank = verb.find(' ');
  const Verb& found = find_verb(verb.substr(0, blank));
  if (blank == std::string::npos || found.actions.empty()) return found.component;
  return std::ranges::find(found.actions, verb.substr(blank + 1), &Verb::name)->component;
}

void become_component(const std::string& verb, const Arguments& arguments) {
  // The component refuses another version, which a build that was interrupted may leave beside this program.
  std::vector<std::string> words = {verb, std::to_string(schema_version)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Programs programs = installed_programs();
  const std::string component = component_of(verb);
  require_component(programs, programs.backend, component);
  become_program(programs.folder / component, std::move(words));
}

Verb compare_verb() {
  return make_component_verb("compare", "intervals and tests over the seeds of several candidates",
                             "exp-report", compare_form);
}

Verb report_verb() {
  return make_component_verb("report", "a document about a run, a sweep or everything", "exp-report",
                             report_form);
}

Verb bundle_verb() {
  Verb verb =
      make_component_verb("bundle", "runs with all that proves them as one file, and what is in such a file",
                          "exp-report", bundle_form);
  verb.run = run_bundle_verb;
  return verb;
}

Verb attention_verb() {
  return make_component_verb("attention", "show what the attention of a run's best model looks at",
                             "exp-report", attention_form);
}

Verb export_verb() {
  return make_component_verb("export", "write a run's best model as a folder for other programs",
                             "exp-report", export_form);
}

Verb db_merge_verb() {
  return make_component_verb("merge", "bring in the runs of other databases", "exp-report", db_merge_form,
                             "db ");
}

Verb serve_verb() {
  return make_component_verb("serve", "answer requests over HTTP with the best models of runs", "exp-serve",
                             serve_form);
}

Verb monitor_verb() {
  return make_component_verb("monitor",
                             "how the texts that a served model gets differ from those it was trained for",
                             "exp-serve", monitor_form);
}

Verb bench_verb() {
  Verb verb = make_component_verb("bench", "measure this machine and a step of an experiment on it",
                                  "exp-bench", bench_form);
  verb.run = run_bench_verb;
  return verb;
}

}  // namespace encore
