// SPDX-License-Identifier: BSD-3-Clause
// The numeric environment, the host and the build: reads /proc, /sys, the CPU and the loaded libraries, for
// started_event.cpp and the verb version. Everything that may change a bit of a result belongs in
// numeric_environment(). Names of fields are stored and must stay. Read environment.hpp first.
#include "worker/environment.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <encore/device.hpp>
#include <encore/kernels.hpp>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "config/fingerprint.hpp"
#include "kernels/products/amx_tiles.hpp"
#include "kernels/products/gemm.hpp"
#include "record/source_record.hpp"
#include "record/thread_adaptation.hpp"
#include "world/cores.hpp"

namespace encore::worker {
namespace {

/// Returns the value after "key : value" in a /proc file, or an empty string.
std::string proc_field(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Returns the instruction set of this CPU by which libraries choose their numeric code.
std::string instruction_set() {
#if defined(__x86_64__)
  std::string names;
  const auto add = [&](bool has, const char* name) {
    if (has) names += (names.empty() ? "" : "+") + std::string(name);
  };
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
  const std::string flags = " " + proc_field("/proc/cpuinfo", "flags") + " ";
  add(flags.find(" amx_tile ") != std::string::npos, "amx");
  return names.empty() ? "x86-64" : names;
#else
  utsname name{};
  uname(&name);
  return name.machine;
#endif
}

std::string device_model(const Device& device) {
  if (const std::string gpu = device.gpu(); !gpu.empty()) return gpu;
  const std::string model = proc_field("/proc/cpuinfo", "model name");
  return model.empty() ? "unknown" : model;
}

/// Returns the path of libencore_kernels.so.
std::string kernels_file() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&kernels::fill), &library) == 0)
    throw Error("the file of the library that holds the kernels cannot be found");
  return library.dli_fname;
}

/// Returns the loaded libraries that compute, keyed by field of the numeric environment: Kokkos, the math
/// functions of the C library, OpenMP of any implementation, and what a search loads: the index and SQLite,
/// whose BM25 it is.
std::map<std::string, std::string> computing_libraries() {
  std::map<std::string, std::string> files;
  const auto take = [](dl_phdr_info* library, std::size_t, void* found) {
    const std::string file = library->dlpi_name;
    const std::string name = file.substr(file.rfind('/') + 1);
    for (const char* field :
         {"libkokkoscore", "libm", "libgomp", "libomp", "libiomp5", "libencore_index", "libsqlite3"})
      if (name.starts_with(std::string(field) + ".so"))
        static_cast<std::map<std::string, std::string>*>(found)->emplace(field, file);
    return 0;
  };
  dl_iterate_phdr(take, &files);
  return files;
}

/// Returns the SHA-256 of each file of Encore and of the system that may change results, without plugins:
/// another source or compiler may round otherwise. Computed once, because files that are replaced later are
/// not those that were loaded.
const nlohmann::json& computing_files() {
  static const nlohmann::json hashes = [] {
    nlohmann::json found = {{"kernels", sha256_of_file(kernels_file())},
                            {"worker", sha256_of_file("/proc/self/exe")}};
    for (const auto& [field, file] : computing_libraries()) found[field] = sha256_of_file(file);
    return found;
  }();
  return hashes;
}

/// Returns the first computing file that differs from the record, as a path below the folder of the build;
/// empty if all agree. Plugins from elsewhere do not belong to the build and are skipped.
std::string other_file(const record::SourceRecord& record, const std::filesystem::path& folder,
                       const std::filesystem::path& program,
                       std::span<const plugin_host::LoadedPlugin> plugins) {
  const auto differs = [&](const std::string& name, const std::string& sha256) {
    const auto known = record.files.find(name);
    return known == record.files.end() || known->second != sha256;
  };
  const auto name_of = [&](const std::filesystem::path& file) {
    return std::filesystem::weakly_canonical(file).lexically_relative(folder).string();
  };
  if (const std::string name = name_of(program); differs(name, computing_files().at("worker"))) return name;
  if (const std::string name = name_of(kernels_file()); differs(name, computing_files().at("kernels")))
    return name;
  for (const plugin_host::LoadedPlugin& plugin : plugins)
    if (const std::string name = name_of(plugin.file);
        record.files.contains(name) && differs(name, plugin.sha256))
      return name;
  return "";
}

}  // namespace

nlohmann::json numeric_environment(const Device& device, const std::string& precision,
                                   std::span<const plugin_host::LoadedPlugin> plugins) {
  nlohmann::json hashes = nlohmann::json::object();
  for (const plugin_host::LoadedPlugin& plugin :
       plugins) {  // two plugins made from one template may have the same name
    const std::string before = hashes.value(plugin.name, "");
    hashes[plugin.name] = before.empty() ? plugin.sha256 : before + " " + plugin.sha256;
  }
  nlohmann::json environment = {{"backend", ENCORE_BACKEND_NAME},       {"device", device_model(device)},
                                {"instruction_set", instruction_set()}, {"precision", precision},
                                {"compiler", ENCORE_COMPILER},          {"kokkos", kokkos_version()},
                                {"gemm", device.gemm().name()},         {"plugins", hashes}};
  environment.update(computing_files());
  return environment;
}

nlohmann::json host_description() {
  utsname name{};
  uname(&name);
  return {{"name", name.nodename},
          {"system", std::string(name.sysname) + " " + name.release},
          {"architecture", name.machine},
          {"cpu", proc_field("/proc/cpuinfo", "model name")},
          {"cpus", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)}};
}

nlohmann::json tiles_description() {
  const kernels::amx::Permission& tiles = kernels::amx::permission();
  return {{"bfloat16", tiles.bfloat16}, {"bytes", tiles.bytes}, {"reason", tiles.reason}};
}

nlohmann::json build_description(std::span<const plugin_host::LoadedPlugin> plugins) {
  nlohmann::json description = {{"version", ENCORE_VERSION},
                                {"backend", ENCORE_BACKEND_NAME},
                                {"compiler", ENCORE_COMPILER},
                                {"type", ENCORE_BUILD_TYPE},
                                {"fingerprint", config::host_fingerprint()}};
  std::error_code missing;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", missing);
  const std::filesystem::path folder = program.parent_path().parent_path();
  const std::optional<record::SourceRecord> record = record::read_source_record(folder);
  if (missing || !record) return description;
  if (const std::string other = other_file(*record, folder, program, plugins); !other.empty())
    description["source_problem"] = other + " is not the file that share/encore/source.json was written for";
  else
    description["source"] = record::json_of(record->source);
  return description;
}

std::string pinning_of(int threads) {
  // The affinity of other threads cannot be queried: if threads are pinned, this thread sees only its own
  // CPUs.
  const bool adapts = threads > 1 && record::thread_adaptation() != record::ThreadAdaptation::fixed;
  const std::string text =
      (adapts ? "up to " : "") + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (!world::openmp_wishes().pinning) return text + ", not pinned";
  for (const char* variable : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PROC_BIND"})
    if (const char* value = std::getenv(variable); value != nullptr)
      return text + ", as " + variable + "=" + value + " says";
  return text;
}

nlohmann::json describe_plugins(std::span<const plugin_host::LoadedPlugin> plugins) {
  nlohmann::json list = nlohmann::json::array();
  for (const plugin_host::LoadedPlugin& plugin : plugins)
    list.push_back({{"name", plugin.name},
                    {"version", plugin.version},
                    {"sha256", plugin.sha256},
                    {"fingerprint", plugin.fingerprint},
                    {"file", plugin.file.string()}});
  return list;
}

}  // namespace encore::worker
