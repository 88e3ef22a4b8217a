// SPDX-License-Identifier: BSD-3-Clause
// exp gc: prints which garbage was removed, or would be removed. app/removal.cpp finds and removes it;
// help_verb.cpp lists the verb. Programs read JSON and CSV: members and columns keep their names. Read next:
// app/removal.hpp.
#include "app/removal.hpp"

#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

std::uint64_t bytes_of(const std::vector<store::Garbage>& list) {
  std::uint64_t bytes = 0;
  for (const store::Garbage& garbage : list) bytes += garbage.bytes;
  return bytes;
}

nlohmann::ordered_json json_of(const std::vector<store::Garbage>& list, bool removed) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const store::Garbage& garbage : list)
    items.push_back({{"kind", store::name_of(garbage.kind)},
                     {"run", garbage.run},
                     {"path", garbage.path.string()},
                     {"bytes", garbage.bytes}});
  return {{"version", 1}, {"removed", removed}, {"bytes", bytes_of(list)}, {"items", items}};
}

int gc_verb(const app::GcRequest& request, app::App& app, Console& console) {
  const std::optional<std::vector<store::Garbage>> list = app::collect_garbage(request, app);
  if (!list) {
    console.out << "nothing was done\n";
    return exit_done;
  }
  if (request.json) {
    console.print(json_of(*list, !request.dry_run));
    return exit_done;
  }
  Table table({{"WHAT"}, {"RUN"}, {"SIZE", Align::right}, {"FILE"}});
  for (const store::Garbage& garbage : *list)
    table.add({store::name_of(garbage.kind), garbage.run,
               request.csv ? std::to_string(garbage.bytes) : bytes_text(garbage.bytes),
               garbage.path.string()});
  if (request.csv) {
    table.print_csv(console.out);
  } else if (list->empty()) {
    console.out << "nothing to remove\n";
  } else {
    table.print(console.out, console.terminal);
    console.out << '\n'
                << bytes_text(bytes_of(*list))
                << (request.dry_run ? " would be removed (dry run)\n" : " removed\n");
  }
  return exit_done;
}

}  // namespace

Verb gc_verb() {
  return make_verb("gc", "remove checkpoints and leftovers that are not needed", app::gc_form, gc_verb);
}

}  // namespace encore::cli
