// See places.hpp.
#include "runner/places.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <encore/error.hpp>

namespace encore {

namespace {

int topology_of(int core, const char* what) {
  std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/" + what);
  int number = 0;
  return in >> number ? number : 0;
}

/// CPUs that the control groups of this process grant, rounded up; 0 where none sets a limit.
int granted_by_control_groups() {
  std::string path;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  int fewest = 0;
  const std::filesystem::path root = "/sys/fs/cgroup";
  for (std::filesystem::path folder = path.empty() ? "/" : path;; folder = folder.parent_path()) {
    std::ifstream in(root / folder.relative_path() / "cpu.max");
    std::string quota;
    double period = 0;
    if (in >> quota >> period && quota != "max" && period > 0) {
      const int granted = static_cast<int>((std::strtod(quota.c_str(), nullptr) + period - 1) / period);
      if (granted > 0 && (fewest == 0 || granted < fewest)) fewest = granted;
    }
    if (!folder.has_relative_path()) return fewest;
  }
}

const char* device_variable(const std::string& backend) {
  return backend == "cuda" ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES";
}

/// "0-2,5"
std::string ranges_text(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end - begin > 1) text += "-" + std::to_string(numbers[end - 1]);
    begin = end;
  }
  return text;
}

/// NVIDIA's driver lists its GPUs there; 0 where nobody can tell.
int known_devices(const std::string& backend) {
  if (backend != "cuda") return 0;
  std::error_code absent;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", absent))
    count += entry.path().empty() ? 0 : 1;
  return count;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = list.find(',', begin);
    parts.push_back(list.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

Cores usable_cores() {
  Cores cores;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed)) cores.numbers.push_back(core);
  std::vector<std::tuple<int, int, int>> order;
  for (int core : cores.numbers)
    order.emplace_back(topology_of(core, "physical_package_id"), topology_of(core, "core_id"), core);
  std::sort(order.begin(), order.end());
  std::transform(order.begin(), order.end(), cores.numbers.begin(),
                 [](const auto& entry) { return std::get<2>(entry); });
  cores.granted = granted_by_control_groups();
  return cores;
}

std::vector<WorkerPlace> make_places(const Cores& cores, const PlacesWanted& wanted) {
  ENCORE_REQUIRE(wanted.workers > 0, "there is at least one worker");
  ENCORE_REQUIRE(wanted.devices.empty() || wanted.devices.size() >= static_cast<std::size_t>(wanted.workers),
                 "each worker has a device");
  const std::size_t workers = static_cast<std::size_t>(wanted.workers), count = cores.numbers.size();
  const std::size_t usable =
      cores.granted > 0 ? std::min(count, static_cast<std::size_t>(cores.granted)) : count;
  int threads = wanted.threads;
  if (threads == 0 && workers > 1) {
    threads = std::max(1, static_cast<int>(usable / workers));
    if (wanted.threads_limit > 0) threads = std::min(threads, wanted.threads_limit);
  }
  const bool apart = workers > 1 && static_cast<std::size_t>(threads) <= count / workers;
  std::vector<WorkerPlace> places(workers);
  for (std::size_t index = 0; index < workers; ++index) {
    WorkerPlace& place = places[index];
    place.threads = threads;
    if (threads > 0) place.variables["OMP_NUM_THREADS"] = std::to_string(threads);
    if (apart) {
      const auto begin = cores.numbers.begin();
      place.cores.assign(begin + static_cast<std::ptrdiff_t>(index * count / workers),
                         begin + static_cast<std::ptrdiff_t>((index + 1) * count / workers));
    }
    if (!wanted.devices.empty()) place.variables[device_variable(wanted.backend)] = wanted.devices[index];
  }
  return places;
}

std::string places_text(const std::vector<WorkerPlace>& places) {
  const WorkerPlace& first = places.front();
  std::string text = std::to_string(places.size()) + (places.size() == 1 ? " worker" : " workers at once");
  if (first.threads > 0)
    text += ", " + std::to_string(first.threads) + (first.threads == 1 ? " thread" : " threads") +
            (places.size() == 1 ? "" : " each");
  std::string cores, devices;
  for (const WorkerPlace& place : places) {
    if (!place.cores.empty()) cores += (cores.empty() ? "" : " | ") + ranges_text(place.cores);
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
      if (const auto device = place.variables.find(name); device != place.variables.end())
        devices += (devices.empty() ? "" : " | ") + device->second;
  }
  if (!cores.empty()) text += ", on cores " + cores;
  if (cores.empty() && places.size() > 1) text += ", which share the cores";
  return devices.empty() ? text : text + ", on devices " + devices;
}

std::vector<std::string> parse_devices(const std::string& list) {
  std::vector<std::string> devices;
  for (const std::string& device : split(list)) {
    const bool name = device.starts_with("GPU-") || device.starts_with("MIG-");
    const bool number = !device.empty() && device.find_first_not_of("0123456789") == std::string::npos;
    if (!name && !number)
      throw Error("--devices \"" + list + "\": \"" + device +
                  "\" is no device; numbers with commas between are (0,1), or names that begin with GPU- or "
                  "MIG-");
    if (std::find(devices.begin(), devices.end(), device) != devices.end())
      throw Error("--devices \"" + list + "\": device " + device + " stands twice; each worker has its own");
    devices.push_back(device);
  }
  return devices;
}

std::vector<std::string> first_devices(const std::string& backend, int workers) {
  std::vector<std::string> devices;
  const char* visible = std::getenv(device_variable(backend));
  if (visible != nullptr && *visible != '\0') {
    devices = split(visible);
  } else {
    const int known = known_devices(backend);
    for (int number = 0; number < (known > 0 ? known : workers); ++number)
      devices.push_back(std::to_string(number));
  }
  if (devices.size() < static_cast<std::size_t>(workers))
    throw Error("-j " + std::to_string(workers) + " on " + backend + " takes as many devices, there " +
                (devices.size() == 1 ? "is 1" : "are " + std::to_string(devices.size())) +
                "; give a smaller -j, or more devices with --devices");
  devices.resize(static_cast<std::size_t>(workers));
  return devices;
}

}  // namespace encore
