// SPDX-License-Identifier: BSD-3-Clause
// exp explain: prints the differences of a run from others, and why `exp run` would start, resume or skip it.
// app/explain.cpp finds them, difference_text.hpp prints them; help_verb.cpp lists the verb. Programs read
// the JSON: members may be added, none renamed.
#include "app/explain.hpp"

#include <nlohmann/json.hpp>

#include "cli/difference_text.hpp"
#include "cli/plan_text.hpp"
#include "cli/run_summary.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "document/escape.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string fields_text(std::size_t count) {
  return count == 1 ? "one field" : std::to_string(count) + " fields";
}

std::string because(const std::string& reason) {
  return reason.empty() ? "" : " (" + reason + ")";
}

std::string reason_of(const store::Store& store, const app::PlannedRun& run) {
  if (run.action == app::Action::leave && run.parent_file) return "no run to do needs its weights";
  if (!run.before) return run.action == app::Action::leave ? "--changed trains nothing new" : "";
  const store::RunRow& before = *run.before;
  const std::string known = before.name + " (" + before.id + ") has the same question";
  if (run.new_repeat)
    return known + (run.changed_plugins.empty() ? "; --fresh trains it again as a new repeat"
                                                : "; " + run.changed_plugins.front().text() +
                                                      ", so it is trained again as a new repeat");
  std::string text;
  switch (run.action) {
    case app::Action::skip:
      text = known + " and is complete since " + time_text(before.finished.value_or(before.created));
      break;
    case app::Action::elsewhere:
      text = known + "; " + world::place_text(before.holder) + " is training it now";
      break;
    case app::Action::start:
      text = known + " and was never started";
      break;
    case app::Action::leave:
      text = known + "; none of its plugin files has changed";
      break;
    case app::Action::resume:
    case app::Action::retry:
      text = known + " and " + app::state_clause(before.state) + because(before.reason) + "; " +
             resume_text(store, before.id);
      break;
  }
  for (const app::PluginChange& change : run.changed_plugins)
    text += "; " + change.text() +
            (run.goes_on() ? ", so it needs --accept-plugin-change or --fresh" : ", which is ignored");
  if (!run.other_build.empty()) text += "; another build trained it: " + run.other_build;
  return text;
}

std::string reason_of_stored(const app::ExplainedRun& explained) {
  if (!explained.nearest) return "it is the only run of this database";
  const app::NearestToIt& nearest = *explained.nearest;
  if (nearest.found.empty()) return nearest.without_a_field;
  const bool other_group = nearest.run.group != explained.run->group;
  return "differs in " + fields_text(nearest.found.size()) + " from the nearest " +
         (other_group ? "run of another group, " : "other run, ") + nearest.run.name + " (" + nearest.run.id +
         ")";
}

std::string reason_of_planned(const store::Store* store, const app::ExplainedRun& explained) {
  if (store == nullptr) return "there is no database yet";
  if (explained.run) return reason_of(*store, *explained.planned);
  if (!explained.nearest) return "the database holds no run yet";
  const app::NearestToIt& nearest = *explained.nearest;
  if (nearest.found.empty()) return nearest.without_a_field;
  return "a new question; the nearest run, " + nearest.run.name + " (" + nearest.run.id + "), differs in " +
         fields_text(nearest.found.size());
}

Json json_of(const app::ExplainedRun& explained, const std::string& reason) {
  const app::NearestToIt* const nearest = explained.nearest ? &*explained.nearest : nullptr;
  const app::PlannedRun* const planned = explained.planned;
  Json json = {{"name", planned != nullptr ? planned->name() : explained.run->name},
               {"action", planned != nullptr ? Json(app::name_of(planned->action)) : Json()},
               {"reason", reason}};
  add_needs(explained.needs, json);
  json.update({{"nearest", nearest != nullptr ? Json(nearest->run.name) : Json()},
               {"nearest_id", nearest != nullptr ? Json(nearest->run.id) : Json()},
               {"differences", differences_json(nearest != nullptr ? nearest->found
                                                                   : std::vector<analysis::Difference>())}});
  if (planned != nullptr) return json;
  const store::RunRow& run = *explained.run;
  json.update({{"id", run.id},
               {"question", run.question},
               {"group", run.group},
               {"backend", run.backend},
               {"repeat", run.repeat},
               {"replicates", explained.replicates},
               {"state", store::name_of(run.state)}});
  return json;
}

void print(const app::ExplainedRun& explained, const std::string& reason, const std::string& this_one,
           Console& console) {
  console.out << reason << needs_text(explained.needs) << '\n';
  if (explained.nearest && !explained.nearest->found.empty())
    print_differences(console.out, console.terminal, explained.nearest->found, explained.nearest->run.name,
                      this_one, 2);
}

void print_head(const store::RunRow& run, std::size_t replicates, Console& console) {
  console.out << run.name << " (" << run.id << ") " << store::name_of(run.state) << because(run.reason)
              << '\n'
              << "  question    " << run.question << '\n'
              << "  group       " << run.group << "  (the question without the seed)\n"
              << "  seed        " << run.seed << ", backend " << run.backend << ", repeat " << run.repeat
              << '\n'
              << "  replicates  " << replicates << " (runs that differ only in the seed)\n";
}

void print_differences_of(std::ostream& out, const app::ExplainedRun& explained) {
  if (!explained.nearest) return;
  const std::string name = explained.planned != nullptr ? explained.planned->name() : explained.run->name;
  for (const analysis::Difference& difference : explained.nearest->found)
    out << document::csv_record({name, explained.nearest->run.name, difference.section, difference.key,
                                 csv_text(difference.b), csv_text(difference.a)});
}

int explain_verb(const app::ExplainRequest& request, app::App& app, Console& console) {
  const app::Explanation all = app::explain(request, app);
  std::optional<store::Store> store;
  if (all.planned && all.has_database) store.emplace(app.database, store::OpenMode::read);
  Json list = Json::array();
  if (request.csv)
    console.out << document::csv_record({"run", "nearest", "section", "key", "value", "nearest_value"});
  for (const app::ExplainedRun& explained : all.runs) {
    const std::string reason =
        all.planned ? reason_of_planned(store ? &*store : nullptr, explained) : reason_of_stored(explained);
    if (request.csv) {
      print_differences_of(console.out, explained);
      continue;
    }
    if (request.json) {
      list.push_back(json_of(explained, reason));
      continue;
    }
    if (all.planned) {
      console.out << styled(console.terminal, Style::bold, explained.planned->name()) << "  "
                  << app::name_of(explained.planned->action) << ": ";
    } else {
      if (&explained != &all.runs.front()) console.out << '\n';
      print_head(*explained.run, explained.replicates, console);
    }
    print(explained, reason, all.planned ? "this file" : explained.run->name, console);
  }
  if (!request.json) return exit_done;
  if (all.planned)
    console.print({{"file", all.planned->file.string()}, {"backend", all.planned->backend}, {"runs", list}});
  else
    console.print(all.one ? list.front() : list);
  return exit_done;
}

}  // namespace

Verb explain_verb() {
  return make_verb("explain", "explain how a run differs from others, or what run would do and why",
                   app::explain_form, explain_verb);
}

}  // namespace encore::cli
