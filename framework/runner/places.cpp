// SPDX-License-Identifier: BSD-3-Clause
// make_places(): divides the cores among workers, assigns GPUs, and sets the environment variables of each
// worker (threads, pinning, visible devices). Results do not depend on places, only speed does. `exp run`,
// bench, verify and serve call it. Read places.hpp first.
#include "runner/places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <encore/error.hpp>

#include "record/thread_adaptation.hpp"

namespace encore::runner {

namespace {

const char* device_variable(const std::string& backend) {
  return backend == "cuda" ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES";
}

/// Returns the number of GPUs that NVIDIA's driver lists; 0 if it is unknown.
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

/// Returns CPUs [begin, end) of all.
world::Cores part_of(const world::Cores& all, std::size_t begin, std::size_t end) {
  const auto cut = [&](const std::vector<int>& list) {
    if (list.empty()) return std::vector<int>();
    return std::vector<int>(list.begin() + static_cast<std::ptrdiff_t>(begin),
                            list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return {cut(all.numbers), 0, cut(all.core)};
}

/// Makes one OpenMP place for each core: "{0,4},{1,5}".
void pin_to_cores(const world::Cores& cores, WorkerPlace& place) {
  std::string text;
  for (const std::vector<int>& cpus : cores.by_core()) {
    text += text.empty() ? "{" : ",{";
    for (std::size_t k = 0; k < cpus.size(); ++k) text += (k > 0 ? "," : "") + std::to_string(cpus[k]);
    text += "}";
  }
  place.variables["OMP_PLACES"] = text;
  place.variables["OMP_PROC_BIND"] = "close";
}

/// Returns the threads of each of N workers. A share is never less than one.
int threads_of(const world::Cores& cores, const PlacesWanted& wanted) {
  if (wanted.backend == "serial") {
    if (wanted.threads > 1)
      throw Error("backend serial computes with one thread, not " + std::to_string(wanted.threads) +
                  "; leave the number of threads out, or choose backend openmp");
    return 1;
  }
  if (wanted.threads > 0) return wanted.threads;
  if (wanted.ranks > 1)
    return std::max(1, world::default_threads(cores, {}) / (wanted.workers * wanted.ranks));
  if (wanted.workers == 1)
    return wanted.backend == "openmp" ? world::default_threads(cores, wanted.wishes) : 0;
  const int share = std::max(1, world::default_threads(cores, {}) / wanted.workers);
  return wanted.wishes.threads > 0 ? std::min(share, wanted.wishes.threads) : share;
}

}  // namespace

std::vector<WorkerPlace> make_places(const world::Cores& cores, const PlacesWanted& wanted) {
  ENCORE_REQUIRE(wanted.workers > 0, "there is at least one worker");
  ENCORE_REQUIRE(wanted.devices.empty() || wanted.devices.size() >= static_cast<std::size_t>(wanted.workers),
                 "each worker has a device");
  const std::size_t workers = static_cast<std::size_t>(wanted.workers), count = cores.numbers.size();
  world::require_threads(wanted.threads);
  const int threads = threads_of(cores, wanted);
  const bool apart = workers > 1 && static_cast<std::size_t>(threads) <= count / workers;
  std::vector<WorkerPlace> places(workers);
  for (std::size_t index = 0; index < workers; ++index) {
    WorkerPlace& place = places[index];
    place.threads = threads;
    place.ranks = wanted.ranks;
    if (threads > 0) place.variables["OMP_NUM_THREADS"] = std::to_string(threads);
    const world::Cores own =
        apart ? part_of(cores, index * count / workers, (index + 1) * count / workers) : cores;
    if (apart) place.cores = own.numbers;
    const bool alone = (apart || workers == 1) && wanted.ranks == 1;
    if (alone && wanted.backend == "openmp" && why_unpinned(cores, wanted.wishes).empty() &&
        static_cast<std::size_t>(threads) == own.by_core().size())
      pin_to_cores(own, place);
    // A number that the user gave is kept; a single thread cannot be reduced.
    if (wanted.threads == 0 && threads > 1 && wanted.backend == "openmp")
      place.variables[record::thread_adaptation_variable] =
          record::name_of(place.variables.contains("OMP_PLACES") ? record::ThreadAdaptation::threads_and_pins
                                                                 : record::ThreadAdaptation::threads);
    if (!wanted.devices.empty()) place.variables[device_variable(wanted.backend)] = wanted.devices[index];
  }
  return places;
}

std::string why_unpinned(const world::Cores& cores, const world::OpenMpWishes& wishes) {
  if (const std::size_t count = cores.by_core().size(); count > 0 && wishes.threads > static_cast<int>(count))
    return "OMP_NUM_THREADS asks for more threads than the " + std::to_string(count) +
           (count == 1 ? " core" : " cores") + " that this process may use";
  if (wishes.pinning) return "OMP_PROC_BIND, OMP_PLACES or their like is set and decides";
  if (cores.granted > 0 && static_cast<std::size_t>(cores.granted) < cores.numbers.size())
    return "a control group grants " + std::to_string(cores.granted) + " of " +
           std::to_string(cores.numbers.size()) + " CPUs";
  return "";
}

std::string places_text(const std::vector<WorkerPlace>& places, const std::string& unpinned) {
  if (places.front().launcher) {
    std::string hosts;
    for (const WorkerPlace& place : places) hosts += (hosts.empty() ? "" : ", ") + place.host;
    return std::to_string(places.size()) + (places.size() == 1 ? " worker" : " workers at once") +
           ", launched on " + hosts;
  }
  const WorkerPlace& first = places.front();
  const bool one = places.size() == 1;
  std::string text = std::to_string(places.size()) + (one ? " worker" : " workers at once");
  if (first.ranks > 1) text += " of " + std::to_string(first.ranks) + " ranks";
  if (first.threads > 0)
    text += ", " + std::to_string(first.threads) + (first.threads == 1 ? " thread" : " threads") +
            (one && first.ranks == 1 ? "" : " each");
  std::string cores, devices;
  for (const WorkerPlace& place : places) {
    if (!place.cores.empty()) cores += (cores.empty() ? "" : " | ") + world::ranges_text(place.cores);
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
      if (const auto device = place.variables.find(name); device != place.variables.end())
        devices += (devices.empty() ? "" : " | ") + device->second;
  }
  if (!cores.empty()) text += ", on cores " + cores;
  if (cores.empty() && !one) text += ", which share the cores";
  if (const auto pins = first.variables.find("OMP_PLACES"); pins != first.variables.end())
    text += one ? ", pinned to the cores " + pins->second : ", pinned";
  else if (first.threads > 0 && one)
    text += ", not pinned" + (unpinned.empty() ? "" : ": " + unpinned);
  return devices.empty() ? text : text + ", on devices " + devices;
}

std::vector<std::string> parse_devices(const std::string& list) {
  std::vector<std::string> devices;
  for (const std::string& device : split(list)) {
    const bool name = device.starts_with("GPU-") || device.starts_with("MIG-");
    const bool number = !device.empty() && device.find_first_not_of("0123456789") == std::string::npos;
    if (!name && !number)
      throw Error("--devices \"" + list + "\": \"" + device +
                  "\" is not a device: expected numbers separated by commas, such as 0,1, or names that "
                  "begin with GPU- or MIG-");
    if (std::find(devices.begin(), devices.end(), device) != devices.end())
      throw Error("--devices \"" + list + "\": device " + device +
                  " is given twice; each worker needs its own");
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
    throw Error("-j " + std::to_string(workers) + " on " + backend + " needs as many devices, but there " +
                (devices.size() == 1 ? "is 1" : "are " + std::to_string(devices.size())) +
                "; give a smaller -j, or more devices with --devices");
  devices.resize(static_cast<std::size_t>(workers));
  return devices;
}

}  // namespace encore::runner
