// SPDX-License-Identifier: BSD-3-Clause
// main() of exp, the control program: finds the verb of the first word and runs it. It starts at once,
// without Kokkos and without loading a plugin, so that listing runs stays fast; exp must never link a kernel.
// Read next: verbs.hpp, then run_verb.cpp.
#include "cli/program.hpp"
#include "cli/verbs.hpp"

namespace {

int run(const encore::cli::Arguments& arguments, encore::cli::Console& console) {
  using encore::cli::find_verb;
  if (arguments.empty()) {
    find_verb("help").run({}, console);
    return encore::cli::exit_usage;
  }
  const std::string& first = arguments.front();
  const encore::cli::Arguments rest = {arguments.begin() + 1, arguments.end()};
  if (first == "-h" || first == "--help") return find_verb("help").run({}, console);
  if (first == "--version") return find_verb("version").run({}, console);
  if (first == "job") return encore::cli::job_verb(rest, console);  // for programs
  return find_verb(first).run(rest, console);
}

}  // namespace

int main(int argc, char** argv) {
  return encore::cli::run_program_of_exp(argc, argv, run);
}
