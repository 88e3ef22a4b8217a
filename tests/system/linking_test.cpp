// SPDX-License-Identifier: BSD-3-Clause
// Tests the libraries that the built programs and plugins link. The control program must start on a machine
// without a GPU driver, so it must not link Kokkos; a plugin must share the one Kokkos of its process. Read
// next: cmake/targets.cmake.

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace fs = std::filesystem;

namespace {

fs::path build() {
  return ENCORE_BUILD_DIR;
}

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(FILE* stream) const { pclose(stream); }
  };
  std::unique_ptr<FILE, Close> stream(popen(command.c_str(), "r"));
  if (!stream) return {};
  std::string text;
  std::array<char, 4096> block;
  while (const auto size = std::fread(block.data(), 1, block.size(), stream.get()))
    text.append(block.data(), size);
  return text;
}

// The libraries that the file itself names, and (ldd) those that they load.
std::string directly_linked(const fs::path& file) {
  return output_of("objdump -p '" + file.string() + "' | grep NEEDED");
}
std::string all_linked(const fs::path& file) {
  return output_of("ldd '" + file.string() + "'");
}
std::string dynamic_symbols(const fs::path& file) {
  return output_of("nm -D '" + file.string() + "'");
}

std::vector<fs::path> plugins() {
  std::vector<fs::path> found;
  const auto folder = build() / "lib/encore/plugins";
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".so") found.push_back(entry.path());
  }
  return found;
}

}  // namespace

TEST(Linking, ControlProgramsHaveNeitherKokkosNorKernelsNorPlugins) {
  for (const char* name : {"exp", "exp-report", "exp-serve", "exp-bench", "exp-index"}) {
    const auto program = build() / "bin" / name;
    ASSERT_TRUE(fs::exists(program)) << program;
    const auto linked = all_linked(program);
    EXPECT_NE(linked.find("libsqlite3"), std::string::npos) << "ldd did not answer:\n" << linked;
    for (const char* foreign :
         {"kokkos", "encore_kernels", "dnnl", "libgomp", "libcuda", "libamdhip", "/plugins/"}) {
      EXPECT_EQ(linked.find(foreign), std::string::npos) << foreign << " is linked:\n" << linked;
    }
    EXPECT_EQ(dynamic_symbols(program).find("dlopen"), std::string::npos)
        << "the control program could load a plugin";
  }
}

TEST(Linking, WorkerHasTheSharedKokkosAndNoDatabase) {
  const auto program = build() / "bin/encore-worker";
  ASSERT_TRUE(fs::exists(program)) << program;
  const auto linked = directly_linked(program);
  EXPECT_NE(linked.find("libkokkoscore.so"), std::string::npos) << linked;
  EXPECT_NE(linked.find("libencore_kernels.so"), std::string::npos) << linked;
  EXPECT_EQ(linked.find("sqlite3"), std::string::npos) << "a worker never opens the database";
}

TEST(Linking, EveryPluginHasAManifestBesideIt) {
  ASSERT_FALSE(plugins().empty());
  for (const auto& plugin : plugins()) {
    EXPECT_TRUE(fs::exists(fs::path(plugin).replace_extension(".json"))) << plugin;
  }
}

TEST(Linking, PluginsKeepNoKokkosOfTheirOwnAndNoUniqueSymbols) {
  for (const auto& plugin : plugins()) {
    const auto symbols = dynamic_symbols(plugin);
    EXPECT_EQ(symbols.find(" u "), std::string::npos)
        << plugin << " has unique symbols, two copies of it would share them";
    // Kokkos::initialize is defined in libkokkoscore.so; a " T " here would be a second Kokkos.
    EXPECT_EQ(symbols.find(" T _ZN6Kokkos10initialize"), std::string::npos) << plugin << " contains Kokkos";
    EXPECT_EQ(directly_linked(plugin).find("sqlite3"), std::string::npos) << plugin;
  }
}
