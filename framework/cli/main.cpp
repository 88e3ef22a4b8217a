// exp, the control program: finds the verb, runs it, turns what it throws into one sentence and an exit code.
// It starts at once, without Kokkos and without loading a plugin. Read next: verbs.hpp, then run_verb.cpp.
#include <fcntl.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "base/terminal_filter.hpp"
#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "config/error.hpp"

namespace {

/// A standard stream that is closed would lend its number to a file opened later; what is printed to it is
/// not wanted, and no failure.
void open_standard_streams() {
  for (const int stream : {0, 1, 2})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // takes the lowest free number
}

/// Who starts this program may have it that nobody is told how a child ends, and then nobody would know how a
/// worker did.
void hear_of_children() {
  std::signal(SIGCHLD, SIG_DFL);
}

/// A table that a full disk has cut must not look like all of it.
int with_whole_output(int exit_code) {
  std::cout.flush();
  if (std::cout || exit_code != encore::exit_done) return exit_code;
  std::cerr << "exp: what was printed could not be written to its end; is the disk full?\n";
  return encore::exit_failed;
}

int run(int argc, char** argv) {
  const encore::Arguments arguments(argv + 1, argv + argc);
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
  open_standard_streams();
  hear_of_children();
  std::ios::sync_with_stdio(false);
  const encore::TerminalFilter output(std::cout, encore::terminal_of(stdout).color);
  const encore::TerminalFilter errors(std::cerr, encore::terminal_of(stderr).color);
  try {
    return with_whole_output(run(argc, argv));
  } catch (const encore::ConfigErrors& problems) {
    // Each line begins with the place; a prefix would hide it from editors that jump there.
    std::cerr << problems.what() << '\n';
    return encore::exit_usage;
  } catch (const encore::Error& error) {
    // A verb that has started something catches what fails from then on itself.
    std::cerr << "exp: " << error.what() << '\n';
    return encore::exit_usage;
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    return encore::exit_failed;
  } catch (const std::bad_alloc&) {
    std::cerr << "exp: out of memory\n";
    return encore::exit_failed;
  } catch (const std::exception& error) {
    std::cerr << "exp: this is a fault of Encore itself, please report it: " << error.what() << '\n';
    return encore::exit_failed;
  }
}
