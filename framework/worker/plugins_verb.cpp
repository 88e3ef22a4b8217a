// SPDX-License-Identifier: BSD-3-Clause
// The verb plugins: loads all plugins of the folders and lists those that loaded or failed, for `exp plugin
// ls --load`. It needs neither Kokkos nor a device, and a plugin that fails to load must not end the list.
#include <chrono>
#include <ostream>

#include "config/fingerprint.hpp"
#include "plugin_host/registry.hpp"
#include "record/plugins_answer.hpp"
#include "worker/answers.hpp"
#include "worker/environment.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {

int plugins_verb(const std::vector<std::filesystem::path>& folders) {
  const auto begin = std::chrono::steady_clock::now();
  plugin_host::Registry registry;
  registry.load_all(config::Catalogue::survey(folders, config::host_fingerprint()));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;

  record::PluginsAnswer answer{.milliseconds = time.count(), .loaded = describe_plugins(registry.plugins())};
  for (const plugin_host::LoadFailure& failure : registry.failures())
    answer.refused.push_back({failure.file.string(), failure.reason});
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
