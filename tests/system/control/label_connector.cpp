// SPDX-License-Identifier: BSD-3-Clause
// A minimal connector (a profiling library) of Kokkos Tools, for bench_test.cpp: it writes the label of every
// kernel and region, each once, into $LABELS_FILE. It is loaded through $KOKKOS_TOOLS_LIBS, as a site loads
// its own, so its functions keep the names that Kokkos Tools defines.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace {

std::set<std::string>& labels() {
  static std::set<std::string> all;
  return all;
}

}  // namespace

extern "C" void kokkosp_begin_parallel_for(const char* name, const std::uint32_t, std::uint64_t*) {
  labels().insert(name);
}
extern "C" void kokkosp_begin_parallel_reduce(const char* name, const std::uint32_t, std::uint64_t*) {
  labels().insert(name);
}
extern "C" void kokkosp_push_profile_region(const char* name) {
  labels().insert("region " + std::string(name));
}
extern "C" void kokkosp_finalize_library() {
  const char* path = std::getenv("LABELS_FILE");
  if (path == nullptr) return;
  std::ofstream out(path);
  for (const std::string& label : labels()) out << label << '\n';
}
