// SPDX-License-Identifier: BSD-3-Clause
// A library for real_worker_test.cpp, as an attacker would plant it beside a run: it acts as soon as it is
// loaded, so a file that it writes proves that it was loaded. It must act without being called.
#include <cstdlib>
#include <fstream>

namespace {

struct AtLoad {
  AtLoad() {
    if (const char* file = std::getenv("PLANTED_MARK")) std::ofstream(file) << "executed";
  }
};
const AtLoad at_load;

}  // namespace
