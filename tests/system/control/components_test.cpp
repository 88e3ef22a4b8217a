// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp` in a build that lacks its components, as after the first command in a clone
// (cli/components.hpp, cmake/components.cmake): what works, what names the command that builds a component,
// and how ./exp is asked to build one. The script ./exp reads the request to build, so its form changes in
// both places.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "config/catalogue.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

/// A tree with build/<backend>: bin/exp, the list of components, and all plugins except those left out.
class LeanBuild {
 public:
  explicit LeanBuild(const fs::path& tree, const std::set<std::string>& without = {})
      : build_(tree / "build" / backend) {
    fs::create_directories(build_ / "bin");
    fs::create_directories(build_ / "lib" / "encore" / "plugins");
    fs::copy_file(fs::path(ENCORE_BUILD_DIR) / "bin" / "exp", program());
    fs::copy_file(fs::path(ENCORE_BUILD_DIR) / "components.txt", build_ / "components.txt");
    for (const auto& entry : fs::directory_iterator(built_in_plugins()))
      if (!without.contains(entry.path().stem()))
        fs::create_symlink(entry.path(), build_ / "lib" / "encore" / "plugins" / entry.path().filename());
  }
  fs::path program() const { return build_ / "bin" / "exp"; }

 private:
  static constexpr const char* backend = ENCORE_BACKEND_NAME;
  fs::path build_;
};

struct Call {
  const char* words;
  const char* component;
};

TEST(Components, AVerbWhoseComponentIsNotBuiltNamesTheCommandThatBuildsIt) {
  const Sandbox sandbox;
  sandbox.write("given.tar.zst", "");
  const std::string exp = LeanBuild(sandbox.folder()).program().string();
  const Call calls[] = {{"report -o r.html", "exp-report"},
                        {"compare x", "exp-report"},
                        {"attention x text", "exp-report"},
                        {"export x -o folder", "exp-report"},
                        {"bundle x -o b.tar.zst", "exp-report"},
                        {"bundle show given.tar.zst", "exp-report"},
                        {"db merge given.db", "exp-report"},
                        {"verify given.tar.zst", "exp-report"},
                        {"serve x", "exp-serve"},
                        {"monitor x", "exp-serve"},
                        {"review ls x.queue", "exp-serve"},
                        {"index show x.index", "exp-index"},
                        {"bench", "exp-bench"},
                        {"bench ls", "exp-bench"}};
  for (const auto& [call, name] : calls) {
    const std::string component = name;
    const runner::ProgramOutput output = sandbox.shell("unset ENCORE_SCRIPT; '" + exp + "' " + call);
    EXPECT_EQ(output.end.exit_code, 2) << call;
    EXPECT_TRUE(output.errors.starts_with("exp: not built yet: " + component + " (missing in ") &&
                output.errors.ends_with("; build it: ./exp build " + component + "\n"))
        << call << ": " << output.errors;
  }
}

TEST(Components, HelpOfEveryVerbAndEverydayVerbsWorkWithoutThem) {
  const Sandbox sandbox;
  const std::string exp = "'" + LeanBuild(sandbox.folder()).program().string() + "'";
  const runner::ProgramOutput every = sandbox.shell(
      "set -e; for verb in $(" + exp + " completion candidates ''); do " + exp + " $verb -h >/dev/null; " +
      exp + " help $verb | grep -q \"^exp $verb\"; done; " + exp + " completion candidates report --che");
  EXPECT_EQ(every.end.exit_code, 0) << every.errors;
  EXPECT_EQ(every.output, "--checklist\n");
  const runner::ProgramOutput wrong = sandbox.shell(exp + " report --ouput r.html");
  EXPECT_TRUE(contains(wrong.errors, "did you mean")) << wrong.errors;
  const runner::ProgramOutput trained =
      sandbox.shell(exp + " run tiny.toml -q && " + exp + " ls && " + exp + " show tiny");
  EXPECT_EQ(trained.end.exit_code, 0) << trained.errors;
}

TEST(Components, TheScriptThatStartedExpIsAskedToBuildAndToCallAgain) {
  const Sandbox sandbox;
  const std::string exp = "'" + LeanBuild(sandbox.folder(), {"conll"}).program().string() + "'";
  sandbox.write("exp", "#!/bin/bash\necho \"$ENCORE_BUILT;$*\"\n");
  fs::permissions(sandbox.folder() / "exp", fs::perms::owner_all);
  const std::string by_script = "export ENCORE_SCRIPT=" + (sandbox.folder() / "exp").string() + "; ";
  const std::string asked = "--backend " ENCORE_BACKEND_NAME " --build ";
  EXPECT_EQ(sandbox.shell(by_script + exp + " bundle show 'a b.tar.zst'").output,
            ";" + asked + "exp-report bundle show a b.tar.zst\n");
  EXPECT_EQ(sandbox.shell(by_script + exp + " run tiny.toml -S seed=2").output,
            ";" + asked + "conll run tiny.toml -S seed=2\n");
  // A component that was built and is still missing is not requested again.
  const runner::ProgramOutput again =
      sandbox.shell(by_script + "export ENCORE_BUILT=exp-report; " + exp + " report -o r.html");
  EXPECT_EQ(again.end.exit_code, 2);
  EXPECT_TRUE(contains(again.errors, "not built yet: exp-report")) << again.errors;
  // The script of another tree is not asked either.
  fs::create_directories(sandbox.folder() / "other");
  fs::copy_file(sandbox.folder() / "exp", sandbox.folder() / "other" / "exp");
  const runner::ProgramOutput other =
      sandbox.shell("export ENCORE_SCRIPT=" + (sandbox.folder() / "other" / "exp").string() + "; " + exp +
                    " report -o r.html");
  EXPECT_EQ(other.end.exit_code, 2);
}

TEST(Components, APluginThatIsNotBuiltIsNamedWithAllOthersThatTheFileNeeds) {
  const Sandbox sandbox;
  const std::string exp = LeanBuild(sandbox.folder(), {"conll", "adam", "highway"}).program().string();
  const runner::ProgramOutput output = sandbox.shell("'" + exp + "' plan tiny.toml");
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "; build it: ./exp build adam conll\n")) << output.errors;
  EXPECT_FALSE(fs::exists(sandbox.folder() / "encore.db"));
}

TEST(Components, AComponentOfAnotherSchemaVersionRefuses) {
  const Sandbox sandbox;
  for (const char* component :
       {"exp-report report", "exp-serve serve", "exp-bench bench", "exp-index 'index show'"}) {
    const runner::ProgramOutput output =
        sandbox.shell(std::string(ENCORE_BUILD_DIR "/bin/") + component + " 3 x");
    EXPECT_EQ(output.end.exit_code, 2);
    EXPECT_TRUE(contains(output.errors, "are from different builds: schema version 3 and ") &&
                contains(output.errors, "build them together: ./exp build"))
        << output.errors;
  }
}

TEST(Components, TheListOfOffersIsWhatTheManifestsSay) {
  std::multiset<std::string> listed, offered;
  std::ifstream lines(built_in_plugins() / config::offers_file);
  for (std::string line; std::getline(lines, line);) listed.insert(line);
  const config::Catalogue catalogue = config::Catalogue::load({built_in_plugins()});
  for (const config::Manifest& manifest : catalogue.manifests())
    for (const config::ManifestOffer& offer : manifest.offers)
      offered.insert(std::string(name_of(offer.kind)) + " " + offer.name + " " + manifest.name);
  EXPECT_EQ(listed, offered);
}

}  // namespace
}  // namespace encore::system_test
