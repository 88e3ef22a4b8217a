// SPDX-License-Identifier: BSD-3-Clause
// Tests the fingerprint (config/fingerprint.hpp): the `key=value;` text of compiler, Kokkos, backend and more
// that a plugin and the worker must share. Equal ones are accepted in any order; otherwise the message names
// each different field with both values, and the command that rebuilds the plugin in its place. Plugins that
// are built have such a text, so its form must stay; the words of messages may change.
#include "config/fingerprint.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace encore::config {
namespace {

TEST(Fingerprint, EqualFingerprintsDoNotDiffer) {
  EXPECT_EQ(fingerprint_difference("a=1;b=2", "a=1;b=2"), "");
}

TEST(Fingerprint, OrderAndFinalSemicolonDoNotMatter) {
  EXPECT_EQ(fingerprint_difference("b=2;a=1;", "a=1;b=2"), "");
}

TEST(Fingerprint, OnlyDifferingFieldsAreNamedWithBothValues) {
  EXPECT_EQ(fingerprint_difference("sdk=1;kokkos=4.6.2;backend=cuda", "sdk=1;kokkos=4.7.0;backend=openmp"),
            "backend is cuda in the plugin and openmp here, kokkos is 4.6.2 in the plugin and 4.7.0 here");
}

TEST(Fingerprint, AFieldThatOneSideLacksDiffers) {
  EXPECT_EQ(fingerprint_difference("a=1", "a=1;b=2"), "b is (none) in the plugin and 2 here");
  EXPECT_EQ(fingerprint_difference("a=1;b=2", "a=1"), "b is 2 in the plugin and (none) here");
}

TEST(Fingerprint, OfThisBuildNamesEveryField) {
  for (const char* field :
       {"sdk=", "compiler=", "standard_library=", "kokkos=", "backend=", "architecture=", "sanitizer="})
    EXPECT_NE(host_fingerprint().find(field), std::string_view::npos)
        << field << " in " << host_fingerprint();
  EXPECT_EQ(host_fingerprint().find("NATIVE"), std::string_view::npos)
      << "lacks the processor: " << host_fingerprint();
}

/// Makes the folder of a plugin's source with its build, and the folders of an installed Encore: the command
/// in the message depends on which one holds the plugin.
class FingerprintProblem : public ::testing::Test {
 protected:
  FingerprintProblem()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("fingerprint_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "my_layers/build/plugins");
    std::filesystem::create_directories(folder_ / "prefix/lib/encore/plugins");
    std::filesystem::create_directories(folder_ / "prefix/bin");
    std::ofstream(folder_ / "prefix/bin/exp");
    std::ofstream(folder_ / "my_layers/CMakeLists.txt");
  }
  ~FingerprintProblem() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

/// The fingerprint of the worker in these tests; with() returns it with one part replaced.
const std::string here =
    "sdk=1;compiler=GNU 12.2.0;standard_library=libstdc++ 12;kokkos=4.7.0;backend=openmp;sanitizer=none";

std::string with(const std::string& from, const std::string& to) {
  std::string text = here;
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(FingerprintProblem, EqualFingerprintsAreFine) {
  EXPECT_EQ(fingerprint_problem("p", folder_ / "p.so", here, here), "");
}

TEST_F(FingerprintProblem, AnotherCompilerKokkosOrBackendIsNamedAlone) {
  const std::filesystem::path file = folder_ / "my_layers/build/plugins/p.so";
  const std::string begin = file.string() + ": plugin \"p\" was built for another Encore: ";
  const std::string end = "; rebuild it: exp plugin build " + (folder_ / "my_layers").string();
  EXPECT_EQ(fingerprint_problem("p", file, with("GNU 12.2.0", "Clang 16.0.6"), here),
            begin + "compiler is Clang 16.0.6 in the plugin and GNU 12.2.0 here" + end);
  EXPECT_EQ(fingerprint_problem("p", file, with("kokkos=4.7.0", "kokkos=4.6.2"), here),
            begin + "kokkos is 4.6.2 in the plugin and 4.7.0 here" + end);
  EXPECT_EQ(fingerprint_problem("p", file, with("backend=openmp", "backend=cuda"), here),
            begin + "backend is cuda in the plugin and openmp here" + end);
}

TEST_F(FingerprintProblem, TheRebuildCommandFitsThePlace) {
  EXPECT_EQ(rebuild_command(folder_ / "prefix/lib/encore/plugins/p.so"), "./exp build");
  EXPECT_EQ(rebuild_command(folder_ / "my_layers/build/plugins/p.so"),
            "exp plugin build " + (folder_ / "my_layers").string());
  EXPECT_EQ(rebuild_command("/nowhere/p.so"), "exp plugin build DIR, where DIR is the folder of its source");
}

}  // namespace
}  // namespace encore::config
