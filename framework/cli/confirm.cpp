// See confirm.hpp.
#include "cli/confirm.hpp"

#include <unistd.h>

#include <iostream>

namespace encore {

void add_yes_option(CommandLine& line) {
  line.options()("yes,y", boost::program_options::bool_switch(), "do not ask");
}

bool ask(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

bool confirm(const CommandLine& line, const std::string& what, const std::string& consequence) {
  if (line.flag("yes")) return true;
  if (::isatty(STDIN_FILENO) == 0)
    throw UsageError("this would " + what + ", and there is no terminal to ask at; -y says yes");
  if (ask(what + "? " + consequence)) return true;
  std::cout << "nothing was done\n";
  return false;
}

}  // namespace encore
