// exp, the control program: finds the verb and runs it. It starts at once, without Kokkos and without loading
// a plugin. Read next: verbs.hpp, then run_verb.cpp.
#include "cli/exit_code.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"

namespace {

int run(const encore::Arguments& arguments) {
  if (arguments.empty()) {
    encore::help_verb({});
    return encore::exit_usage;
  }
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help") return encore::help_verb({});
  if (first == "--version") return encore::version_verb({});
  if (first == "job") return encore::job_verb({arguments.begin() + 1, arguments.end()});  // for programs
  return encore::find_verb(first).run({arguments.begin() + 1, arguments.end()});
}

}  // namespace

int main(int argc, char** argv) {
  return encore::run_program_of_exp(argc, argv, run);
}
