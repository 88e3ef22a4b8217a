// SPDX-License-Identifier: BSD-3-Clause
// The program race_check: the checks of tokenizers, tasks and readers (contract/suite.hpp) in a build with
// the thread sanitizer, which reports every access to shared memory without a lock, even if the threads
// happened to access it one after the other. CTest runs it as races.* on the shipped plugins and on
// fixtures/racing_*.cpp (CMakeLists.txt beside it). No kernel runs here: the sanitizer does not know how
// OpenMP's threads wait for each other.
//
//   race_check PLUGIN.so...     exit 0: no race and no failed check, 1: a failed check or an error,
//                               66: a race, reported on standard error
#include <exception>
#include <iostream>

#include "contract/suite.hpp"
#include "plugin_host/loader.hpp"

namespace {

using namespace encore;

std::vector<contract::Check> checks_of(const Offer& offer) {
  if (offer.kind == Kind::tokenizer) return contract::tokenizer_checks(offer);
  if (offer.kind == Kind::task) return contract::task_checks(offer, {});
  if (offer.kind == Kind::reader) return contract::reader_checks(offer, {});
  return {};
}

/// Returns the number of checks that failed.
int check_plugin(const std::filesystem::path& file) {
  int failed = 0;
  const plugin_host::OpenedPlugin plugin = plugin_host::open_plugin(file);
  for (const Offer& offer : plugin.offers.offers())
    for (const contract::Check& check : checks_of(offer)) {
      std::cout << contract::subject_of(offer) << ": " << check.name << std::endl;
      try {
        check.run();
      } catch (const contract::NotChecked&) {  // nothing to compare
      } catch (const std::exception& error) {
        std::cout << "FAIL  " << error.what() << std::endl;
        ++failed;
      }
    }
  return failed;
}

}  // namespace

/// Options for the sanitizer: the first race ends the program.
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:exitcode=66";
}

int main(int argc, char** argv) try {
  int failed = 0;
  for (int i = 1; i < argc; ++i) failed += check_plugin(argv[i]);
  std::cout << argc - 1 << " plugins, " << failed << " failed checks" << std::endl;
  return failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "race_check: " << error.what() << std::endl;
  return 1;
}
