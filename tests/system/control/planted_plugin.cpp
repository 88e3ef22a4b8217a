// A library as an attacker would plant it: it acts as soon as it is loaded.
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
