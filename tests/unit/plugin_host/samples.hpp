// SPDX-License-Identifier: BSD-3-Clause
// Finds the sample plugins (sample_plugin.cpp, twin_plugin.cpp) and copies them with manifests into temporary
// folders. Only loader_test.cpp and registry_test.cpp include it, so it may change with them.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "config/manifest.hpp"
#include "plugin_host/loader.hpp"

namespace encore::testing {

/// Returns the file of a sample, such as "good" or "failing".
inline std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(SAMPLE_PLUGINS) / (name + ".so");
}

/// A folder of its own that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("encore_plugin_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Copies a sample as `name`.so and writes a manifest, changed by `change`. A sample that cannot be opened
  /// gets the good sample's manifest.
  void add(const std::string& name, const std::string& from, const auto& change) const {
    const std::filesystem::path library = path_ / (name + ".so");
    std::filesystem::copy_file(sample(from), library);
    const bool twin = from.starts_with("twin");
    config::Manifest manifest =
        plugin_host::make_manifest(plugin_host::open_plugin(sample(twin ? from : "good")), library);
    change(manifest);
    std::ofstream(path_ / (name + ".json")) << config::manifest_to_json(manifest).dump();
  }
  void add(const std::string& name, const auto& change) const { add(name, "good", change); }
  void add(const std::string& name) const {
    add(name, "good", [](config::Manifest&) {});
  }

 private:
  std::filesystem::path path_;
};

/// Returns what() of the Error that `action` throws, or "no error".
inline std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace encore::testing
