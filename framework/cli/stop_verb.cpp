// SPDX-License-Identifier: BSD-3-Clause
// exp stop: prints which runs and sessions were asked to stop. app/stop.cpp asks them; help_verb.cpp lists
// the verb. Programs read the JSON: members and the names of answers ("asked", "killed") stay. Read next:
// app/stop.hpp.
#include "app/stop.hpp"

#include <nlohmann/json.hpp>

#include "cli/run_display.hpp"
#include "cli/run_json.hpp"
#include "cli/run_summary.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

std::string text_of(const store::Store& store, const app::AskedRun& asked, const Console& console) {
  const std::string& name = asked.run.name;
  switch (asked.how) {
    case app::AskedRun::How::killed:
      return name + ": its worker is killed now; with the same exp run command " +
             resume_text(store, asked.run.id);
    case app::AskedRun::How::inactive:
      return name + " was asked to stop; it stops only after a step: " + inactivity_text(asked.inactivity) +
             "; " + console.suggestion({"stop", name, "--kill"}) + " kills its worker";
    case app::AskedRun::How::asked:
      return name + " was asked to stop; it writes a checkpoint first";
    case app::AskedRun::How::withdrawn:
      return name + " is stopped; its job had not started it";
    case app::AskedRun::How::begun:
      return name + " was asked to stop; it has just started";
  }
  return "";
}

nlohmann::ordered_json json_of(const app::StopResult& result) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array(), sessions = runs;
  for (const app::AskedRun& asked : result.asked) {
    runs.push_back(run_head_json(asked.run));
    runs.back()["asked"] = app::name_of(asked.how);
  }
  for (const runner::OpenSession& session : result.sessions)
    sessions.push_back({{"command", session.command},
                        {"sweep", session.sweep},
                        {"host", session.process.host},
                        {"process", session.process.pid}});
  return {{"version", 1}, {"runs", runs}, {"sessions", sessions}};
}

int stop_verb(const app::StopRequest& request, app::App& app, Console& console) {
  const app::StopResult result = app::stop(request, app);
  if (request.json) {
    console.print(json_of(result));
    return exit_done;
  }
  if (!result.asked.empty()) {
    const store::Store store(app.database, store::OpenMode::read);
    for (const app::AskedRun& asked : result.asked) console.out << text_of(store, asked, console) << '\n';
  }
  for (const runner::OpenSession& session : result.sessions)
    console.out << session.command << " (process " << session.process.pid << " on " << session.process.host
                << ") was asked to stop; it starts no more runs\n";
  if (!result.asked.empty() || !result.sessions.empty())
    console.out << "  next      " << console.suggestion({"status"}) << '\n';
  else if (result.runs.size() == 1)
    console.out << result.runs.front().name << " is " << store::name_of(result.runs.front().state)
                << ", there is nothing to stop\n";
  else
    console.out << "nothing is running, there is nothing to stop\n";
  return exit_done;
}

}  // namespace

Verb stop_verb() {
  return make_verb("stop", "ask a run or a sweep to checkpoint and end", app::stop_form, stop_verb);
}

}  // namespace encore::cli
