// A newcomer's path, by the commands in the template's README alone: new, build, test, a sweep beside
// self_attention. Once against the build tree, once against an installation.
#include <gtest/gtest.h>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/outside/workshop.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Outside : public testing::Test {
 protected:
  /// A build for a GPU is also made on machines that have none.
  void SetUp() override {
    const ProgramOutput version = run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }

  ProgramOutput must(const std::string& lines) {
    ProgramOutput output = shop_.shell(lines);
    EXPECT_TRUE(output.end.success()) << lines << "\n" << output.output << output.errors;
    return output;
  }

  void install() {
    must("cmake --install '" ENCORE_BUILD_DIR "' --prefix prefix >install.log");
    shop_.set_prefix(shop_.folder() / "prefix");
  }

  /// Everything the README says, in its order; what it calls experiment.toml is the sandbox's small one.
  /// `built_in` is what its sweep compares it with.
  void follow_the_readme(const std::string& name, const std::string& kind, const std::string& built_in) {
    must("exp plugin new " + name + " --kind " + kind);
    const std::string readme = shop_.read(name + "/README.md");
    EXPECT_LT(std::count(readme.begin(), readme.end(), '\n'), 60) << "a README of one screen";
    EXPECT_FALSE(contains(readme, "my_plugin")) << "a name of the template is left";
    const std::vector<std::string> commands = code_blocks(readme, "sh"), files = code_blocks(readme, "toml");
    ASSERT_EQ(commands.size(), 2U);
    ASSERT_EQ(files.size(), 1U);

    const ProgramOutput built = must(commands[0]);
    EXPECT_TRUE(contains(built.output, "/plugins/" + name + ".so: " + kind + " \"" + name + "\""))
        << built.output;
    EXPECT_TRUE(contains(built.output, "100% tests passed, 0 tests failed out of 2")) << built.output;

    const Sandbox corpus(true);
    for (const char* file : {"train.conll", "dev.conll", "test.conll"}) shop_.write(file, corpus.read(file));
    shop_.write("experiment.toml", tiny_experiment());
    shop_.write("sweep.toml", files[0]);
    const ProgramOutput ran = must(commands[1]);
    EXPECT_TRUE(contains(ran.output, name + "-" + name)) << ran.output;
    EXPECT_TRUE(contains(ran.output, name + "-" + built_in)) << ran.output;
    const ProgramOutput list = must("exp ls --state completed --csv");
    EXPECT_EQ(std::count(list.output.begin(), list.output.end(), '\n'), 3) << list.output;
  }

  Workshop shop_;
};

TEST_F(Outside, ByTheReadmeAgainstTheBuildTree) {
  follow_the_readme("my_layers", "layer", "self_attention");

  // Two plugins made from one template, in one model.
  must("exp plugin new second; exp plugin build second");
  const std::string build = "/build/" ENCORE_BACKEND_NAME "/plugins";
  shop_.write("both.toml", "base = \"experiment.toml\"\nname = \"both\"\nplugin_path = [\"my_layers" + build +
                               "\", \"second" + build + "\"]\n" + R"(
[model]
block = ["attention", "again", "feed_forward"]
[model.layer.attention]
type = "my_layers"
[model.layer.again]
type = "second"
distance = -1
)");
  const ProgramOutput both = must("exp run both.toml");
  EXPECT_TRUE(contains(both.output, "both completed")) << both.output;
}

TEST_F(Outside, AScheduleByItsReadme) {
  follow_the_readme("trapezoid", "schedule", "constant");
}

TEST_F(Outside, AnOptimizerByItsReadme) {
  follow_the_readme("lion", "optimizer", "adamw");
}

TEST_F(Outside, AHeadByItsReadme) {
  follow_the_readme("focal", "head", "linear");
  // What it cannot do is said before anything starts.
  const ProgramOutput smooth = shop_.shell("exp run sweep.toml -S train.label_smoothing=0.1");
  EXPECT_EQ(smooth.end.exit_code, 2);
  EXPECT_TRUE(contains(smooth.errors, "the focal loss knows no smooth labels; set train.label_smoothing = 0"))
      << smooth.errors;
}

TEST_F(Outside, ATokenizerByItsReadme) {
  follow_the_readme("stretches", "tokenizer", "wordpiece");
  must("exp predict stretches-stretches-s1 'anna in [SEP] lund'");
}

TEST_F(Outside, ByTheReadmeAgainstAnInstallation) {
  install();
  follow_the_readme("my_layers", "layer", "self_attention");
  // In the installation's own folder it needs no plugin_path.
  must("cmake --install my_layers/build/" ENCORE_BACKEND_NAME " --prefix prefix");
  EXPECT_TRUE(fs::exists(shop_.folder() / "prefix/lib/encore/plugins/my_layers.json"));
  must("exp run experiment.toml -S model.layer.attention='{ type = \"my_layers\" }' --name everywhere");
}

TEST_F(Outside, AnInstallationKnowsNothingOfTheBuild) {
  install();
  const ProgramOutput found =
      shop_.shell("grep -rlF '" ENCORE_BUILD_DIR "' prefix/lib/cmake prefix/share prefix/include");
  EXPECT_EQ(found.end.exit_code, 1) << "grep reads every file and finds nothing: " << found.errors;
  EXPECT_EQ(found.output, "");
  const ProgramOutput linked = must("ldd prefix/bin/* prefix/lib/*.so prefix/lib/encore/plugins/*.so");
  EXPECT_FALSE(contains(linked.output, ENCORE_BUILD_DIR)) << linked.output;
  EXPECT_FALSE(contains(linked.output, "not found")) << linked.output;
  const ProgramOutput other = shop_.shell("exp plugin new a && exp plugin build a --backend hip");
  EXPECT_EQ(other.end.exit_code, 2);
  EXPECT_TRUE(contains(other.errors, "there is no Encore for backend hip")) << other.errors;
  EXPECT_TRUE(contains(other.errors, "install an Encore built for hip into ")) << other.errors;
}

TEST_F(Outside, AnotherCompilerIsRefusedBeforeAnythingIsCompiled) {
  install();
  must(
      "exp plugin new a; sed -i 's/compiler=[^;]*/compiler=Other 3.1/' "
      "prefix/lib/cmake/encore/encore-config.cmake");
  const ProgramOutput output = shop_.shell("exp plugin build a");
  EXPECT_EQ(output.end.exit_code, 1) << output.output;
  std::string words;  // CMake breaks lines where it likes
  for (const char letter : output.errors)
    if (letter != ' ' && letter != '\n') words += letter;
  EXPECT_TRUE(contains(words, "Encorewasbuiltwithcompiler=Other3.1,thisprojectwithcompiler="))
      << output.errors;
  EXPECT_FALSE(contains(words, "kokkos=")) << "only what differs: " << output.errors;
  EXPECT_TRUE(contains(words, "encore-toolchain.cmake")) << output.errors;
}

}  // namespace
}  // namespace encore::system_test
