// SPDX-License-Identifier: BSD-3-Clause
// run_program_of_exp() and run_component_of_exp(): run a verb for the main() of exp and of its components:
// open the standard streams, print errors, choose the exit code, and let ./exp build a missing component.
// main.cpp, report_main.cpp, serve_main.cpp, bench_main.cpp and index_main.cpp call them. Which exception
// gives which exit code is documented for scripts and never changes. Read next: program.hpp.
#include "cli/program.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>

#include "base/terminal_filter.hpp"
#include "cli/become_worker.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "config/error.hpp"
#include "config/not_built.hpp"
#include "runner/programs.hpp"
#include "store/encore_database.hpp"

namespace encore::cli {

namespace {

/// Opens closed standard streams on /dev/null, so that no file gets their numbers. Output to them is dropped
/// without an error.
void open_standard_streams() {
  for (const int stream : {0, 1, 2})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // takes the lowest free number
}

/// Resets SIGCHLD. A parent may have set it to be ignored, and then exp could not learn how a worker ended.
void hear_of_children() {
  std::signal(SIGCHLD, SIG_DFL);
}

/// Returns the exit code, or that of a failure if output was lost: a table cut by a full disk must not look
/// complete.
int with_whole_output(int exit_code, Console& console) {
  console.out.flush();
  if (console.out || exit_code != exit_done) return exit_code;
  console.noticed("error writing to standard output; is the disk full?");
  return exit_failed;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns $ENCORE_SCRIPT, the ./exp that started this process, if it belongs to the tree in which this
/// program was built. A program of another build that inherits the variable must not start a build.
std::filesystem::path script_of_this_build() {
  const std::filesystem::path script = variable("ENCORE_SCRIPT");
  const std::filesystem::path build = runner::installed_programs().folder.parent_path();  // TREE/build/openmp
  std::error_code other;
  const bool is_own = !script.empty() && std::filesystem::equivalent(
                                             script.parent_path() / "build" / build.filename(), build, other);
  return is_own ? script : std::filesystem::path();
}

/// Returns whether ./exp has already built one of the missing components for this call.
bool was_built(const config::NotBuilt& missing) {
  std::istringstream built(variable("ENCORE_BUILT"));
  for (std::string name; built >> name;)
    for (const std::string& wanted : missing.names())
      if (name == wanted) return true;
  return false;
}

/// Lets ./exp build the missing components and call exp again with the same words.
int build_and_call_again(const config::NotBuilt& missing, const Arguments& words, Console& console) {
  const std::filesystem::path script = script_of_this_build();
  if (script.empty() || was_built(missing)) {
    console.noticed(missing.what());
    return exit_usage;
  }
  std::string names;
  for (const std::string& name : missing.names()) names += (names.empty() ? "" : ",") + name;
  Arguments again = {"--backend", runner::installed_programs().backend, "--build", names};
  again.insert(again.end(), words.begin(), words.end());
  become_program(script, again);
}

/// Returns the exit code of `run`, or prints the error that it throws and returns the code for it.
int run_reporting(const Arguments& words, Console& console, const std::function<int()>& run) {
  const auto fail = [&](const std::string& text, int exit_code) {
    console.noticed(text);
    return exit_code;
  };
  try {
    return with_whole_output(run(), console);
  } catch (const config::ConfigErrors& problems) {
    // Each line begins with the place; a prefix would hide it from editors that jump there.
    console.relayed(problems.what() + std::string("\n"));
    return exit_usage;
  } catch (const app::WorkError& error) {
    return fail(error.what(), exit_failed);
  } catch (const Error& error) {
    return fail(error.what(), exit_usage);
  } catch (const config::NotBuilt& missing) {
    return run_reporting(words, console, [&] { return build_and_call_again(missing, words, console); });
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.what(), exit_failed);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", exit_failed);
  } catch (const std::exception& error) {
    return fail(std::string("internal error of Encore, please report it: ") + error.what(), exit_failed);
  }
}

/// Runs one call and turns exceptions into messages and exit codes. `words` are the words with which exp was
/// called.
int run_program(const Arguments& words, const std::function<int(Console&)>& run) {
  open_standard_streams();
  hear_of_children();
  std::ios::sync_with_stdio(false);
  const TerminalFilter output(std::cout, terminal_of(stdout).color);
  const TerminalFilter errors(std::cerr, terminal_of(stderr).color);
  Console console;
  return run_reporting(words, console, [&] { return run(console); });
}

}  // namespace

int run_program_of_exp(int argc, char** argv, const std::function<int(const Arguments&, Console&)>& run) {
  const Arguments words(argv + 1, argv + argc);
  return run_program(words, [&](Console& console) { return run(words, console); });
}

int run_component_of_exp(int argc, char** argv, const std::vector<Verb>& verbs) {
  Arguments arguments(argv + 1, argv + argc);
  arguments.resize(std::max<std::size_t>(arguments.size(), 2));
  const std::string name = arguments[0], schema = arguments[1];
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  std::istringstream in(name);
  Arguments words;
  for (std::string word; in >> word;) words.push_back(word);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words, [&](Console& console) {
    const auto verb = std::ranges::find(verbs, name, &Verb::name);
    if (verb == verbs.end())
      throw Error("this program is a component that exp calls; it has no verb \"" + name + "\"");
    if (schema != std::to_string(store::schema_version))
      throw Error("exp and its component for " + name + " are from different builds: schema version " +
                  schema + " and " + std::to_string(store::schema_version) +
                  "; build them together: ./exp build");
    return verb->run(arguments, console);
  });
}

}  // namespace encore::cli
