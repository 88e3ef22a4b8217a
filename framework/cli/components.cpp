// SPDX-License-Identifier: BSD-3-Clause
// The verbs that components do, as exp has them: reads and checks the request, then replaces exp by the
// component, which reads the same words again. verbs() in help_verb.cpp lists these verbs like all others;
// main.cpp runs them. The words of the call (verb, schema version, arguments) are a contract with
// program.cpp. Read next: components.hpp.
#include "cli/components.hpp"

#include <algorithm>

#include "app/bench_requests.hpp"
#include "app/bundle_requests.hpp"
#include "app/document_requests.hpp"
#include "app/index_requests.hpp"
#include "app/review_requests.hpp"
#include "app/serving_requests.hpp"
#include "cli/become_worker.hpp"
#include "runner/programs.hpp"
#include "store/encore_database.hpp"

namespace encore::cli {

namespace {

/// Checks the request before the component is searched, because it may have to be built. `verb` may include
/// an action.
template <class Request>
int run_in_component(const std::string& verb, app::Form<Request> (*form)(), const Arguments& arguments,
                     Console& console) {
  return run_bound(form(), arguments, console,
                   [&](const Request&, app::App&, Console&) -> int { become_component(verb, arguments); });
}

template <class Request>
Verb make_component_verb(const std::string& name, const std::string& summary, const std::string& component,
                         app::Form<Request> (*form)(), const std::string& before = {}) {
  return {.name = name,
          .summary = summary,
          .run = [name = before + name, form](
                     const Arguments& arguments,
                     Console& console) { return run_in_component(name, form, arguments, console); },
          .form = form,
          .component = component};
}

/// Returns whether the words mean "bundle show FILE", not "bundle show -o FILE.tar.zst", which packs a run
/// with the name "show": packing needs -o, and show has no such option.
bool asks_for_show(const Arguments& arguments) {
  const auto is_output = [](const std::string& word) {
    return word.starts_with("--output") || (word.starts_with("-o") && !word.starts_with("--"));
  };
  return !arguments.empty() && arguments.front() == "show" && std::ranges::none_of(arguments, is_output);
}

int run_bundle_verb(const Arguments& arguments, Console& console) {
  if (!asks_for_show(arguments)) return run_in_component("bundle", app::bundle_form, arguments, console);
  return run_in_component("bundle show", app::bundle_show_form, {arguments.begin() + 1, arguments.end()},
                          console);
}

int run_bench_verb(const Arguments& arguments, Console& console) {
  const std::string action = arguments.empty() ? "" : arguments.front();
  if (action != "ls" && action != "show")
    return run_in_component("bench", app::bench_form, arguments, console);
  const Arguments rest = {arguments.begin() + 1, arguments.end()};
  return action == "ls" ? run_in_component("bench ls", app::bench_ls_form, rest, console)
                        : run_in_component("bench show", app::bench_show_form, rest, console);
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
  std::vector<std::string> words = {verb, std::to_string(store::schema_version)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const runner::Programs programs = runner::installed_programs();
  const std::string component = component_of(verb);
  runner::require_component(programs, programs.backend, component);
  become_program(programs.folder / component, std::move(words));
}

Verb compare_verb() {
  return make_component_verb("compare", "compare candidates over their seeds, with intervals and tests",
                             "exp-report", app::compare_form);
}

Verb report_verb() {
  return make_component_verb("report", "write a document about a run, a sweep or all runs", "exp-report",
                             app::report_form);
}

Verb bundle_verb() {
  Verb verb =
      make_component_verb("bundle", "pack runs with their evidence into one file, or show such a file",
                          "exp-report", app::bundle_form);
  verb.run = run_bundle_verb;
  return verb;
}

Verb attention_verb() {
  return make_component_verb("attention", "show the attention weights of a run's best model", "exp-report",
                             app::attention_form);
}

Verb export_verb() {
  return make_component_verb("export", "write a run's best model as a folder for other programs",
                             "exp-report", app::export_form);
}

Verb db_merge_verb() {
  return make_component_verb("merge", "copy the runs of other databases into this one", "exp-report",
                             app::db_merge_form, "db ");
}

Verb serve_verb() {
  return make_component_verb("serve", "serve the best models of runs over HTTP", "exp-serve",
                             app::serve_form);
}

Verb monitor_verb() {
  return make_component_verb("monitor", "check whether the inputs of a served model have changed",
                             "exp-serve", app::monitor_form);
}

Verb review_verb() {
  const auto action = [](const char* name, const char* summary, auto form) {
    return make_component_verb(name, summary, "exp-serve", form, "review ");
  };
  return make_verb_of_actions(
      "review", "decide the requests that an application leaves to people",
      "the queue of requests that people decide (docs/guides/review.md)",
      {action("new", "make a queue for an application", app::review_new_form),
       action("ls", "list the items of a queue", app::review_ls_form),
       action("next", "claim the next item; on a terminal, review one after the other",
              app::review_next_form),
       action("decide", "record the label of an item", app::review_decide_form),
       action("undo", "take back a decision", app::review_undo_form),
       action("release", "give back a claimed item, or skip it", app::review_release_form),
       action("report", "print load, agreement, and the error of automatic answers", app::review_report_form),
       action("export", "write decisions as records to train with", app::review_export_form),
       action("forget", "remove inputs for good", app::review_forget_form),
       action("trail", "print who did what with an item", app::review_trail_form)});
}

Verb index_verb() {
  const auto action = [](const char* name, const char* summary, auto form) {
    return make_component_verb(name, summary, "exp-index", form, "index ");
  };
  return make_verb_of_actions(
      "index", "find documents by words and vectors, in an index outside of an application",
      "the index of a collection of documents (docs/guides/index_documents.md)",
      {action("build", "make an index of the documents in a file", app::index_build_form),
       action("add", "add documents, or replace them", app::index_add_form),
       action("remove", "remove documents", app::index_remove_form),
       action("query", "print the documents that answer a query", app::index_query_form),
       action("show", "print what an index has", app::index_show_form)});
}

Verb bench_verb() {
  Verb verb = make_component_verb("bench", "measure this machine and a training step on it", "exp-bench",
                                  app::bench_form);
  verb.run = run_bench_verb;
  return verb;
}

}  // namespace encore::cli
