// SPDX-License-Identifier: BSD-3-Clause
// versions(): reads the versions of the libraries of exp, and on request asks the worker for its own (verb
// version of worker/main.cpp). cli/version_verb.cpp calls it and prints them. Programs read the members of
// the JSON, so none is renamed. Read next: version.hpp.
#include "app/version.hpp"

#include <sqlite3.h>

#include "base/json_text.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

Form<VersionRequest> version_form() {
  using R = VersionRequest;
  return Form<R>("version",
                 {"version [--worker]",
                  "Prints the versions of the control program; with --worker also those of the worker: "
                  "backend, compiler, libraries, instruction set.",
                  {{"exp version --worker", "print everything that may change the bits of a result"}}})
      .flag("worker", &R::worker, "also start the worker and print its versions")
      .option("backend", &R::backend, "NAME", "the worker's backend (default: that of this build)")
      .flag("json", &R::json, "as JSON");
}

namespace {

/// Returns the processor whose programs this package uses; "" without one, as `exp doctor` explains.
std::string processor_of(const runner::Programs& programs) {
  try {
    return runner::chosen_processor(programs);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

Versions versions(const VersionRequest& request) {
  const runner::Programs programs = runner::installed_programs();
  Versions versions{.encore = ENCORE_VERSION,
                    .backend = programs.backend,
                    .sqlite = sqlite3_libversion(),
                    .processor = processor_of(programs),
                    .worker = nullptr};
  if (!request.worker) return versions;
  const auto worker = runner::worker_program(programs, request.backend.value_or(programs.backend));
  const runner::ProgramOutput answer = runner::run_program(worker, {"version"});
  versions.worker = json_or_null<nlohmann::ordered_json>(answer.output);
  if (!answer.end.success() || !versions.worker.is_object())
    throw Error(worker.string() + " version ended with " + answer.end.text() + ": " + answer.errors);
  return versions;
}

}  // namespace encore::app
