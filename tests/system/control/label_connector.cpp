// A connector of Kokkos Tools, as small as they come: writes the label of every kernel and region, each once,
// into $LABELS_FILE. Loaded through $KOKKOS_TOOLS_LIBS, as those of a site would be.
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
