// SPDX-License-Identifier: BSD-3-Clause
// Tests the path of a new author of plugins, by the commands in the README of each template alone, to which
// no test may add one (plugins/template): new, build, test, a sweep beside a built-in type. Once against the
// build tree, once against an installation. workshop.hpp has the folder.
#include <gtest/gtest.h>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/outside/workshop.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

class Outside : public ::testing::Test {
 protected:
  /// Skips the test if the worker does not run: a build for a GPU is also made on machines without one.
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }

  runner::ProgramOutput must(const std::string& lines) {
    runner::ProgramOutput output = shop_.shell(lines);
    EXPECT_TRUE(output.end.success()) << lines << "\n" << output.output << output.errors;
    return output;
  }

  void install() {
    must("cmake --install '" ENCORE_BUILD_DIR "' --prefix prefix >install.log");
    shop_.set_prefix(shop_.folder() / "prefix");
  }

  struct Readme {
    std::vector<std::string> commands, files;
  };

  /// A new plugin, made and built with its tests as its README says: the first of the two blocks of commands.
  Readme build_by_the_readme(const std::string& name, const std::string& kind) {
    must("exp plugin new " + name + " --kind " + kind);
    const std::string text = shop_.read(name + "/README.md");
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60) << "a README of one screen";
    EXPECT_FALSE(contains(text, "my_plugin")) << "a name of the template is left";
    Readme readme{code_blocks(text, "sh"), code_blocks(text, "toml")};
    EXPECT_EQ(readme.commands.size(), 2U);
    EXPECT_EQ(readme.files.size(), 1U);
    readme.commands.resize(2);
    readme.files.resize(1);

    const runner::ProgramOutput built = must(readme.commands[0]);
    EXPECT_TRUE(contains(built.output, "/plugins/" + name + ".so: " + kind + " \"" + name + "\""))
        << built.output;
    EXPECT_TRUE(contains(built.output, "100% tests passed, 0 tests failed out of 2")) << built.output;
    return readme;
  }

  /// Everything the README says, in its order; what it calls experiment.toml is the sandbox's small one.
  /// `built_in` is what its sweep compares it with.
  void follow_the_readme(const std::string& name, const std::string& kind, const std::string& built_in) {
    const auto [commands, files] = build_by_the_readme(name, kind);
    const Sandbox corpus(true);
    for (const char* file : {"train.conll", "dev.conll", "test.conll"}) shop_.write(file, corpus.read(file));
    shop_.write("experiment.toml", tiny_experiment());
    shop_.write("sweep.toml", files[0]);
    const runner::ProgramOutput ran = must(commands[1]);
    EXPECT_TRUE(contains(ran.output, name + "-" + name)) << ran.output;
    EXPECT_TRUE(contains(ran.output, name + "-" + built_in)) << ran.output;
    const runner::ProgramOutput list = must("exp ls --state completed --csv");
    EXPECT_EQ(std::count(list.output.begin(), list.output.end(), '\n'), 3) << list.output;
  }

  /// Returns the output of building a plugin, without spaces, after an installation's fingerprint has been
  /// edited.
  std::string refusal_after(const std::string& edit) {
    install();
    must("exp plugin new a; sed -i '" + edit + "' prefix/lib/cmake/encore/encore-config.cmake");
    const runner::ProgramOutput output = shop_.shell("exp plugin build a");
    EXPECT_EQ(output.end.exit_code, 1) << output.output;
    std::string words;  // CMake breaks lines where it likes
    for (const char letter : output.errors)
      if (letter != ' ' && letter != '\n') words += letter;
    return words;
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
  const runner::ProgramOutput both = must("exp run both.toml");
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
  // Unsupported requests are rejected before anything starts.
  const runner::ProgramOutput smooth = shop_.shell("exp run sweep.toml -S train.label_smoothing=0.1");
  EXPECT_EQ(smooth.end.exit_code, 2);
  EXPECT_TRUE(contains(smooth.errors, "the focal loss has no label smoothing: set train.label_smoothing = 0"))
      << smooth.errors;
}

TEST_F(Outside, ATokenizerByItsReadme) {
  follow_the_readme("stretches", "tokenizer", "wordpiece");
  must("exp predict stretches-stretches-s1 'anna in [SEP] lund'");
}

/// Sentences whose label is given by one of their words, eight of each kind for every split.
std::string labelled_texts(int first) {
  std::string lines;
  for (int i = first; i < first + 8; ++i) {
    const std::string rest = " word" + std::to_string(i) + " here\n";
    lines += "good\tfine" + rest + "bad\tawful" + rest;
  }
  return lines;
}

TEST_F(Outside, ATaskByItsReadme) {
  const Readme readme = build_by_the_readme("topics", "task");
  shop_.write("mine.toml", readme.files[0]);
  shop_.write("train.tsv", labelled_texts(0));
  shop_.write("dev.tsv", labelled_texts(3));
  shop_.write("test.tsv", labelled_texts(5) + "other\ta label that training lacks\n");
  const runner::ProgramOutput all = must(readme.commands[1]);
  EXPECT_TRUE(contains(all.output, "topics completed")) << all.output;
  EXPECT_TRUE(contains(all.output, "accuracy")) << all.output;

  const runner::ProgramOutput list = must("exp ls --state completed --csv");
  EXPECT_EQ(std::count(list.output.begin(), list.output.end(), '\n'), 2) << list.output;
  EXPECT_TRUE(contains(shop_.read("report.html"), "accuracy")) << "the report knows the measure of the task";
  for (const char* answer : {"good\tfine word1 here", "bad\tawful word1 here"}) {
    const std::string text = std::string(answer).substr(std::string_view(answer).find('\t') + 1);
    const runner::ProgramOutput predicted = must("exp predict topics '" + text + "'");
    EXPECT_TRUE(contains(predicted.output, answer)) << predicted.output;
  }
  const runner::ProgramOutput scored = must("exp evaluate topics dev.tsv --json");
  EXPECT_TRUE(contains(scored.output, "\"accuracy\": 1.0")) << "a word decides: " << scored.output;

  // Data that does not fit is rejected before anything starts, with its place.
  const runner::ProgramOutput select = shop_.shell("exp run mine.toml -S 'train.select=max dev/f1'");
  EXPECT_EQ(select.end.exit_code, 2);
  EXPECT_TRUE(contains(select.errors, "names the measure \"f1\", which task \"topics\" does not have"))
      << select.errors;
  const runner::ProgramOutput unfit = shop_.shell("exp run mine.toml -S data.type=conll");
  EXPECT_EQ(unfit.end.exit_code, 2);
  EXPECT_TRUE(contains(
      unfit.errors,
      "reader \"conll\" does not give the fields \"text\", \"label\" that task \"topics\" needs; it gives "
      "\"words\", \"tags\"; data.label_comment adds \"text\", \"label\""))
      << unfit.errors;

  // A test that does not compile leaves the new plugin with its own manifest.
  must(
      "sed -i 's/the part to keep of a text that is too long/the part that is kept/' topics/topics.cpp; "
      "echo broken >> topics/topics_test.cpp");
  EXPECT_EQ(shop_.shell("exp plugin build topics").end.exit_code, 1);
  const std::string plugin = "topics/build/" ENCORE_BACKEND_NAME "/plugins/topics";
  EXPECT_TRUE(contains(shop_.read(plugin + ".json"), "the part that is kept"));
  must("exp plugin check " + plugin + ".so");
}

TEST_F(Outside, AReaderByItsReadme) {
  const Readme readme = build_by_the_readme("rows", "reader");
  shop_.write("train.tsv", "good\tnever better\nbad\tthe worst\n");
  const runner::ProgramOutput checked = must(readme.commands[1]);
  EXPECT_TRUE(contains(checked.output, "ok    reader \"rows\": file of --data: 2 records from train.tsv"))
      << checked.output;
  shop_.write("train.tsv", "no tab\n");
  const runner::ProgramOutput refused = shop_.shell(readme.commands[1]);
  EXPECT_EQ(refused.end.exit_code, 1);
  EXPECT_TRUE(contains(refused.output,
                       "FAIL  reader \"rows\": file of --data: it is refused: train.tsv:1: expected a label, "
                       "a tab and a text"))
      << refused.output;
  const runner::ProgramOutput absent =
      shop_.shell("exp plugin check rows/build/" ENCORE_BACKEND_NAME "/plugins/rows.so --data absent.tsv");
  EXPECT_EQ(absent.end.exit_code, 2);
  EXPECT_TRUE(contains(absent.errors,
                       "absent.tsv: no such file; --data needs a file that a reader of the plugin can"))
      << absent.errors;

  // Beside a task that reads other fields.
  shop_.write("experiment.toml", tiny_experiment());
  shop_.write("mine.toml", "base = \"experiment.toml\"\n" + readme.files[0]);
  const runner::ProgramOutput plan = shop_.shell("exp plan mine.toml");
  EXPECT_EQ(plan.end.exit_code, 2);
  EXPECT_TRUE(
      contains(plan.errors, "reader \"rows\" does not give the fields \"words\", \"tags\" that task \"ner\""))
      << plan.errors;
}

TEST_F(Outside, AStepByItsReadme) {
  const Readme readme = build_by_the_readme("listed", "step");
  shop_.write("app.toml", readme.files[0]);
  for (const char* file : {"dev.tsv", "test.tsv"}) {
    std::string lines;
    for (int i = 0; i < 8; ++i) {
      const std::string rest = " day " + std::to_string(i);
      lines += "a fine" + rest + "\tgood\n" + "an awful" + rest + "\tbad\n";
    }
    shop_.write(file, lines);
  }
  const runner::ProgramOutput all = must(readme.commands[1]);
  EXPECT_TRUE(contains(all.output, "find completed")) << all.output;
  EXPECT_TRUE(contains(all.output, "good (words: 1)")) << "the line of exp predict: " << all.output;
  const runner::ProgramOutput scored = must("exp evaluate find test.tsv --json");
  EXPECT_TRUE(contains(scored.output, "\"route.f1\": 1.0")) << "a word decides: " << scored.output;

  // A field that no step gives is rejected before anything starts.
  must(
      "sed -i 's/.reads = {\"text\"}/.reads = {\"topic.label\"}/' listed/listed.cpp; "
      "cmake --build listed/build/" ENCORE_BACKEND_NAME " --target listed");
  const runner::ProgramOutput refused = shop_.shell("exp run app.toml --fresh");
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(
      contains(refused.errors, "step \"route\" reads the field \"topic.label\", but no step \"topic\""))
      << refused.errors;
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
  const runner::ProgramOutput found =
      shop_.shell("grep -rlF '" ENCORE_BUILD_DIR "' prefix/lib/cmake prefix/share prefix/include");
  EXPECT_EQ(found.end.exit_code, 1) << "grep reads every file and finds nothing: " << found.errors;
  EXPECT_EQ(found.output, "");
  const runner::ProgramOutput linked =
      must("ldd prefix/bin/* prefix/lib/*.so prefix/lib/encore/plugins/*.so");
  EXPECT_FALSE(contains(linked.output, ENCORE_BUILD_DIR)) << linked.output;
  EXPECT_FALSE(contains(linked.output, "not found")) << linked.output;
  const runner::ProgramOutput other = shop_.shell("exp plugin new a && exp plugin build a --backend hip");
  EXPECT_EQ(other.end.exit_code, 2);
  EXPECT_TRUE(contains(other.errors, "there is no Encore for backend hip")) << other.errors;
  EXPECT_TRUE(contains(other.errors, "install an Encore built for hip into ")) << other.errors;
}

TEST_F(Outside, AnotherCompilerIsRefusedBeforeAnythingIsCompiled) {
  const std::string words = refusal_after("s/compiler=[^;]*/compiler=Other 3.1/");
  EXPECT_TRUE(contains(words, "Encorewasbuiltwithcompiler=Other3.1,thisprojectwithcompiler=")) << words;
  EXPECT_FALSE(contains(words, "kokkos=")) << "only what differs: " << words;
  EXPECT_TRUE(contains(words, "encore-toolchain.cmake")) << words;
}

TEST_F(Outside, AnotherProcessorIsRefusedWithWhatToDo) {
  const std::string words = refusal_after("s/architecture=[^;]*/architecture=x86_64 znver3-0a1b2c3d/");
  EXPECT_TRUE(contains(words, "Encorewasbuiltwitharchitecture=x86_64znver3-0a1b2c3d,thisprojectwith"))
      << words;
  EXPECT_TRUE(contains(words, "Buildthepluginonamachineliketheonethat")) << words;
  EXPECT_FALSE(contains(words, "encore-toolchain.cmake")) << "another compiler would not help: " << words;
}

TEST_F(Outside, HeadersThatHaveChangedAskForEncoreToBeBuiltAgain) {
  const std::string words = refusal_after("s/sdk=[0-9]*/sdk=1/");
  EXPECT_TRUE(contains(words, "Encorewasbuiltwithsdk=1,thisprojectwithsdk=")) << words;
  EXPECT_TRUE(contains(words, "havechangedsince:buildEncoreagain,thenthisproject.")) << words;
  EXPECT_FALSE(contains(words, "exppluginbuild.")) << "that has just been called: " << words;
}

}  // namespace
}  // namespace encore::system_test
