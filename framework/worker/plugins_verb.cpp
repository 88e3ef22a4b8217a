// SPDX-License-Identifier: BSD-3-Clause
// The verb plugins: loads all plugins of the folders and lists those that loaded or failed, for `exp plugin
// ls --load`. It needs neither Kokkos nor a device.
#include <chrono>
#include <ostream>

#include <nlohmann/json.hpp>

#include "config/fingerprint.hpp"
#include "plugin_host/registry.hpp"
#include "worker/answers.hpp"
#include "worker/environment.hpp"
#include "worker/verbs.hpp"

namespace encore {

int plugins_verb(const std::vector<std::filesystem::path>& folders) {
  const auto begin = std::chrono::steady_clock::now();
  Registry registry;
  registry.load_all(Catalogue::survey(folders, host_fingerprint()));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;

  nlohmann::json refused = nlohmann::json::array();
  for (const LoadFailure& failure : registry.failures())
    refused.push_back({{"file", failure.file.string()}, {"reason", failure.reason}});
  answer_stream() << nlohmann::json{{"milliseconds", time.count()},
                                    {"loaded", describe_plugins(registry.plugins())},
                                    {"refused", refused}}
                         .dump()
                  << '\n';
  return 0;
}

}  // namespace encore
