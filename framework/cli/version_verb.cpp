// version: of the control program, and with --worker of a worker and its numeric environment.
#include <iostream>

#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "cli/command_line.hpp"
#include "cli/verbs.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore {

int version_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("version",
                   {"version [--worker]",
                    "Versions of the control program; with --worker also of the worker: backend, compiler, "
                    "libraries, instruction set.",
                    {{"exp version --worker", "everything that may change the bits of a result"}}});
  line.options()("worker", po::bool_switch(), "ask the worker too (it starts, which takes a moment)");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "which worker (default: that of this build)");
  line.options()("json", po::bool_switch(), "as JSON");
  if (!line.parse(arguments)) return exit_done;

  const Programs programs = installed_programs();
  nlohmann::ordered_json version = {
      {"encore", ENCORE_VERSION}, {"backend", programs.backend}, {"sqlite", sqlite3_libversion()}};
  if (line.flag("worker")) {
    const auto worker =
        worker_program(programs, line.has("backend") ? line.text("backend") : programs.backend);
    const ProgramOutput answer = run_program(worker, {"version"});
    const auto described = json_or_null<nlohmann::ordered_json>(answer.output);
    if (!answer.end.success() || !described.is_object())
      throw Error(worker.string() + " version ended with " + answer.end.text() + ": " + answer.errors);
    version["worker"] = described;
  }
  if (line.flag("json")) {
    std::cout << version.dump(2) << '\n';
    return exit_done;
  }
  std::cout << "encore " << ENCORE_VERSION << " (backend of this build: " << programs.backend << ", SQLite "
            << sqlite3_libversion() << ")\n";
  if (version.contains("worker")) std::cout << version["worker"].dump(2) << '\n';
  return exit_done;
}

}  // namespace encore
