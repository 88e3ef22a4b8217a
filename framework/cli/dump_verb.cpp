// SPDX-License-Identifier: BSD-3-Clause
// exp dump: writes runs to files, or as JSON to standard output, for other programs. app/dump.cpp writes the
// files, run_json.hpp the JSON, which define the formats. Other programs read them, so columns and members
// keep their names; help_verb.cpp lists the verb.
#include "app/dump.hpp"

#include "cli/run_json.hpp"
#include "cli/verbs.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

int dump_verb(const app::DumpRequest& request, app::App& app, Console& console) {
  store::Store store(app.database, store::OpenMode::read);
  const std::vector<store::RunRow> runs = app::dumped_runs(request, store);
  if (request.json && request.output.empty()) {
    write_runs_json(store, runs, [&](const std::string& text) { console.out << text; });
    return exit_done;
  }
  if (request.csv) app::write_tables(store, runs, request.output);
  if (request.tensorboard) app::write_tensorboard(store, runs, request.output);
  if (request.json) {
    world::AtomicFile file(request.output);
    write_runs_json(store, runs, [&](const std::string& text) { file.write(text); });
    file.commit();
  }
  console.out << runs.size() << (runs.size() == 1 ? " run" : " runs") << " written to " << request.output
              << '\n';
  return exit_done;
}

}  // namespace

Verb dump_verb() {
  return make_verb("dump", "write runs as CSV, JSON or TensorBoard files", app::dump_form, dump_verb);
}

}  // namespace encore::cli
