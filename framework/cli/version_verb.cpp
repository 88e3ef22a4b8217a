// SPDX-License-Identifier: BSD-3-Clause
// exp version: prints the versions of Encore and its parts, and on request those of a worker. app/version.cpp
// reads them; help_verb.cpp lists the verb. Programs read the JSON: members keep their names. Read next:
// app/version.hpp.
#include "app/version.hpp"

#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

int version_verb(const app::VersionRequest& request, app::App&, Console& console) {
  const app::Versions known = app::versions(request);
  if (request.json) {
    nlohmann::ordered_json json = {
        {"encore", known.encore}, {"backend", known.backend}, {"sqlite", known.sqlite}};
    json["processor"] = known.processor.empty() ? nullptr : nlohmann::ordered_json(known.processor);
    if (!known.worker.is_null()) json["worker"] = known.worker;
    console.print(json);
    return exit_done;
  }
  console.out << "encore " << known.encore << " (backend of this build: " << known.backend
              << (known.processor.empty() ? "" : ", programs for " + known.processor) << ", SQLite "
              << known.sqlite << ")\n";
  if (!known.worker.is_null()) console.print(known.worker);
  return exit_done;
}

}  // namespace

Verb version_verb() {
  return make_verb("version", "print the versions of Encore and its parts", app::version_form, version_verb);
}

}  // namespace encore::cli
