// SPDX-License-Identifier: BSD-3-Clause
// Tests Programs (runner/programs.hpp), which finds the worker program and the plugins of each backend from
// the running executable, in builds and in installations, and names the command that builds a missing one.
// The layout of an installation is that of cmake/, so both change together.
#include "runner/programs.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include <encore/error.hpp>

#include "config/fingerprint.hpp"
#include "world/processor.hpp"

namespace encore::runner {
namespace {

std::string complaint(const Programs& programs, const std::string& backend) {
  try {
    worker_program(programs, backend);
  } catch (const Error& error) {
    return error.what();
  }
  return "found";
}

class ProgramsTest : public ::testing::Test {
 protected:
  ProgramsTest() {
    ::unsetenv("ENCORE_WORKER");
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-programs-XXXXXX").string();
    build_ = ::mkdtemp(pattern.data());
    programs_ = {build_ / "openmp" / "bin", "openmp"};
  }
  ~ProgramsTest() override {
    ::unsetenv("ENCORE_WORKER");
    std::filesystem::remove_all(build_);
  }
  std::filesystem::path make_worker(const std::string& backend) {
    const std::filesystem::path file = build_ / backend / "bin" / "encore-worker";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  std::filesystem::path build_;
  Programs programs_;
};

TEST_F(ProgramsTest, BuildsOfSeveralBackendsLieSideBySide) {
  const auto openmp = make_worker("openmp"), cuda = make_worker("cuda");
  EXPECT_EQ(worker_program(programs_, "openmp"), openmp);
  EXPECT_EQ(worker_program(programs_, "cuda"), cuda);
  EXPECT_EQ(plugin_folder(programs_, "cuda"), build_ / "cuda" / "lib" / "encore" / "plugins");
}

TEST_F(ProgramsTest, AMissingOneNamesTheCommandThatBuildsIt) {
  EXPECT_NE(complaint(programs_, "hip").find("./exp --backend hip build"), std::string::npos);
}

TEST_F(ProgramsTest, AnInstallationNamesWhereAnotherBackendBelongs) {
  std::filesystem::create_directories(template_folder(programs_));
  const std::string where = "install an Encore built for hip into " + (build_ / "hip").string();
  EXPECT_NE(complaint(programs_, "hip").find(where), std::string::npos) << complaint(programs_, "hip");
}

TEST_F(ProgramsTest, ThePackageOfABackendLiesBesideItsPrograms) {
  const auto folder = build_ / "cuda" / "lib" / "cmake" / "encore";
  try {
    package_folder(programs_, "cuda");
    FAIL() << "found a package that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "there is no Encore for backend cuda to build against (" +
                                             folder.string() + "); build it with ./exp --backend cuda build");
  }
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "encore-config.cmake") << "";
  EXPECT_EQ(package_folder(programs_, "cuda"), folder);
}

TEST_F(ProgramsTest, UnknownBackendsAreRefused) {
  EXPECT_EQ(complaint(programs_, "cudda"), "unknown backend \"cudda\"; did you mean \"cuda\"?");
  EXPECT_EQ(complaint(programs_, "x"), "unknown backend \"x\": expected openmp, serial, cuda or hip");
}

TEST_F(ProgramsTest, TheEnvironmentMayNameTheWorker) {
  const auto worker = make_worker("other");
  ::setenv("ENCORE_WORKER", worker.c_str(), 1);
  EXPECT_EQ(worker_program(programs_, "openmp"), worker);
  ::setenv("ENCORE_WORKER", "/nowhere", 1);
  EXPECT_NE(complaint(programs_, "openmp").find("$ENCORE_WORKER names /nowhere"), std::string::npos);
}

using Folders = std::vector<std::filesystem::path>;

TEST_F(ProgramsTest, PluginsAreSearchedInTheFileTheCommandLineTheEnvironmentAndTheBuild) {
  for (const char* folder : {"file", "line", "other", "line/openmp", "line/cuda"})
    std::filesystem::create_directory(build_ / folder);
  ::setenv("ENCORE_PLUGIN_PATH", (build_ / "environment").c_str(), 1);
  const std::vector<std::string> line = {(build_ / "line").string() + "::" + (build_ / "other").string()};
  EXPECT_EQ(plugin_search_path({build_ / "file"}, line, programs_, "openmp"),
            (Folders{build_ / "file", build_ / "line", build_ / "line/openmp", build_ / "other",
                     build_ / "environment", build_ / "openmp/lib/encore/plugins"}));
  EXPECT_EQ(plugin_search_path({}, {line}, programs_, "cuda"),
            (Folders{build_ / "line", build_ / "line/cuda", build_ / "other", build_ / "environment",
                     build_ / "cuda/lib/encore/plugins"}));
  ::unsetenv("ENCORE_PLUGIN_PATH");
  EXPECT_EQ(plugin_search_path({}, {}, programs_, "openmp"), (Folders{build_ / "openmp/lib/encore/plugins"}));
  std::string message;
  try {
    plugin_search_path({}, {"/nowhere/at/all"}, programs_, "openmp");
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "--plugin-path names \"/nowhere/at/all\", which is not a folder");
}

TEST_F(ProgramsTest, AnotherBackendsFingerprintIsThatOfItsPlugins) {
  EXPECT_EQ(fingerprint_of(programs_, "openmp"), config::host_fingerprint());
  EXPECT_EQ(fingerprint_of(programs_, "cuda"), "") << "not built: nothing to compare with";
}

TEST_F(ProgramsTest, APackageUsesTheMostCapableProcessorThatThisMachineRuns) {
  ::unsetenv("ENCORE_CPU");
  EXPECT_EQ(chosen_processor(programs_), "") << "a build is for one processor";
  std::string best;
  for (const world::Processor& processor : world::processors()) {
    make_worker(std::string("openmp/lib/encore/cpu/") + processor.name);
    if (best.empty() && processor.runs_here()) best = processor.name;
  }
  EXPECT_EQ(packaged_processors(programs_),
            (std::vector<std::string>{"cooperlake", "x86-64-v4", "x86-64-v3"}));
  if (best.empty()) GTEST_SKIP() << "this processor has no AVX2";
  const std::filesystem::path prefix = build_ / "openmp/lib/encore/cpu" / best;
  EXPECT_EQ(worker_program(programs_, "openmp"), prefix / "bin/encore-worker");
  EXPECT_EQ(plugin_folder(programs_, "openmp"), prefix / "lib/encore/plugins");
  EXPECT_EQ(report_folder(programs_), build_ / "openmp/share/encore/reports") << "all processors share it";
  EXPECT_EQ(fingerprint_of(programs_, "openmp"), "") << "that of its plugins, and there are none";
}

TEST_F(ProgramsTest, TheEnvironmentMayNameTheProcessorOfAPackage) {
  make_worker("openmp/lib/encore/cpu/x86-64-v3");
  for (const char* other : {"x86-64-v4", "x86-64-v33", "native"}) {
    ::setenv("ENCORE_CPU", other, 1);
    EXPECT_NE(complaint(programs_, "openmp").find("invalid $ENCORE_CPU \"" + std::string(other) + "\""),
              std::string::npos)
        << complaint(programs_, "openmp");
  }
  for (const world::Processor& processor : world::processors()) {
    const auto worker = make_worker(std::string("openmp/lib/encore/cpu/") + processor.name);
    ::setenv("ENCORE_CPU", processor.name, 1);
    if (processor.runs_here())
      EXPECT_EQ(worker_program(programs_, "openmp"), worker);
    else
      EXPECT_NE(complaint(programs_, "openmp").find("but this processor lacks"), std::string::npos);
  }
  ::unsetenv("ENCORE_CPU");
}

}  // namespace
}  // namespace encore::runner
