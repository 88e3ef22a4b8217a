// SPDX-License-Identifier: BSD-3-Clause
// Tests libencore_infer.so (framework/library) as a user has it who has an installation and nothing else: the
// programs of docs/guides/embedding_in_c.md, built out of tree through pkg-config and through find_package,
// give the answers of exp; and a program that makes every mistake (probe.c) gets error messages. Programs of
// users call the same functions, so probe.c must compile without changes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/archive.hpp"
#include "system/control/sandbox.hpp"
#include "system/outside/workshop.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
    if (!Sandbox::has("cc") || !Sandbox::has("pkg-config"))
      GTEST_SKIP() << "cc or pkg-config is not installed";
    const Sandbox corpus(true);
    for (const char* file : {"train.conll", "dev.conll", "test.conll"}) shop_.write(file, corpus.read(file));
    shop_.write("tiny.toml", tiny_experiment());
    must("exp run tiny.toml -q && exp export tiny --format encore -o model");
    must("for more in '' '--component library'; do cmake --install '" ENCORE_BUILD_DIR
         "' --prefix prefix $more >>install.log; done");
    shop_.set_prefix(shop_.folder() / "prefix");
  }

  std::string must(const std::string& lines) {
    const runner::ProgramOutput output = shop_.shell(lines);
    EXPECT_TRUE(output.end.success()) << lines << "\n" << output.output << output.errors;
    return output.output;
  }
  /// Compiles a C program with the flags of the installation's package.
  void compile(const std::string& name, const std::string& more = "") {
    must("export PKG_CONFIG_PATH=$PWD/prefix/lib/pkgconfig; cc -Wall -Wextra -Werror " + name + ".c -o " +
         name + " $(pkg-config --cflags --libs encore_infer) " + more);
  }

  Workshop shop_;
};

TEST_F(Library, ProgramsOfThePageAnswerWhatExpAnswers) {
  const std::string page = content(ENCORE_SOURCE_DIR "/docs/guides/embedding_in_c.md");
  shop_.write("ask.c", code_blocks(page, "c").at(0));
  compile("ask");
  const std::string asked = R"("Anna lives in Lund ." "" "no name here")";
  const std::string wanted =
      must("printf 'Anna lives in Lund .\\n\\nno name here\\n' | exp predict tiny --file - --json");
  EXPECT_EQ(must("./ask model " + asked), wanted);
  EXPECT_EQ(must("./ask encore.db.runs/* " + asked), wanted) << "the run's own folder";
  const runner::ProgramOutput refused = shop_.shell("./ask nowhere text");
  EXPECT_EQ(refused.end.exit_code, 1);
  EXPECT_EQ(refused.errors, "nowhere: there is no such folder\n");

  shop_.write("cpp/ask.cpp", code_blocks(page, "cpp").at(0));
  shop_.write("cpp/CMakeLists.txt", code_blocks(page, "cmake").at(0));
  must(
      "cmake -S cpp -B cpp/build -DCMAKE_PREFIX_PATH=$PWD/prefix >cmake.log && cmake --build cpp/build "
      ">>cmake.log");
  std::istringstream numbers(must("./cpp/build/ask model 'Anna lives in Lund .'"));
  const nlohmann::json answer = nlohmann::json::parse(must("exp embed tiny 'Anna lives in Lund .' --json"));
  const std::vector<double> vector = answer.at("vectors").at(0).at("vector");
  ASSERT_FALSE(vector.empty());
  for (const double number : vector) {
    double printed = 0.0;
    ASSERT_TRUE(numbers >> printed);
    EXPECT_NEAR(printed, number, 1e-5 * std::max(1.0, std::abs(number))) << "six digits are printed";
  }
  double more = 0.0;
  EXPECT_FALSE(numbers >> more);
}

/// Returns the line of probe.c that begins with this name.
std::string line_of(const std::string& output, const std::string& beginning) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(beginning + ":")) return line.substr(beginning.size() + 2);
  return "no line " + beginning + " in\n" + output;
}

TEST_F(Library, ReportsEveryMistake) {
  shop_.write("probe.c", content(ENCORE_SOURCE_DIR "/tests/system/library/probe.c"));
  compile("probe", "-pthread");
  shop_.write("other/README.md", "nothing");
  shop_.write("folder/config.json", "{}");
  const std::string said = must("./probe model other folder");
  EXPECT_EQ(line_of(said, "version"), "0.1.0 1");
  EXPECT_EQ(line_of(said, "before"), "\"\"");
  EXPECT_EQ(line_of(said, "no folder"), "1 path or model is NULL");
  EXPECT_EQ(line_of(said, "missing"), "2 /nowhere: there is no such folder");
  EXPECT_EQ(line_of(said, "other"),
            "2 other: it has no specification.json, so it is not the folder of a run; name encore.db.runs/ID "
            "(exp show RUN prints it), a folder of exp export --format encore, or a bundle");
  EXPECT_EQ(line_of(said, "transformers"),
            "2 folder: this is a model of transformers; make a run of it first (exp import DIR)");
  EXPECT_EQ(line_of(said, "threads"), "1 invalid encore_options.threads: expected 0 to 512");
  EXPECT_TRUE(
      line_of(said, "size").starts_with("1 invalid encore_options.size: expected the size in a version"))
      << said;
  EXPECT_TRUE(line_of(said, "int8").starts_with("2 ")) << said;
  EXPECT_EQ(line_of(said, "bits"), "1 invalid encore_options.integer_bits: expected 0, 8 or 4");
  EXPECT_EQ(line_of(said, "untouched"), "1");
  EXPECT_EQ(line_of(said, "open"), "0 ");
  EXPECT_EQ(line_of(said, "null text"), "1 one of the inputs is NULL");
  EXPECT_EQ(line_of(said, "no list"), "1 the list of inputs is NULL");
  EXPECT_EQ(line_of(said, "line break"),
            "3 text 2 has a line break; each text is one line, as for exp predict");
  EXPECT_EQ(line_of(said, "nothing said"), "\"\"");
  const std::string longest = line_of(said, "long");
  EXPECT_TRUE(longest.starts_with("3 text 1 is longer than data.max_length = ") &&
              longest.ends_with("; shorten it, or set encore_options.truncate to use its beginning only"))
      << longest;
  EXPECT_EQ(line_of(said, "cut"), "0 ");
  const nlohmann::json facts = nlohmann::json::parse(line_of(said, "facts"));
  EXPECT_EQ(facts.at("task"), "ner");
  EXPECT_EQ(facts.at("digest").get<std::string>().size(), 64U);
  EXPECT_GT(facts.at("vector_width"), 0);
  EXPECT_EQ("1 " + must("exp predict tiny --json 'Anna lives in Lund .'"), line_of(said, "together") + "\n")
      << said;
  EXPECT_EQ(line_of(said, "null scores"), "1 model or lines is NULL");
  EXPECT_EQ(must("exp predict tiny --scores --json 'Anna lives in Lund .'"), line_of(said, "scored") + "\n")
      << said;
}

/// Bundles are opened with a folder for temporary files of their own.
struct BundleInALibrary : Library {
  void SetUp() override {
    Library::SetUp();
    if (IsSkipped()) return;
    shop_.write("bundle.c", content(ENCORE_SOURCE_DIR "/tests/system/library/bundle.c"));
    compile("bundle");
    must("mkdir aside && exp bundle tiny -o tiny.tar.zst");
    id_ = must("ls encore.db.runs | tr -d '\\n'");
    honest_ = Archive::load(shop_.folder() / "tiny.tar.zst");
  }
  /// Returns what the program prints, and expects that no file stays behind.
  std::string said_of(const std::string& arguments) {
    const std::string said = must("TMPDIR=$PWD/aside ./bundle " + arguments);
    EXPECT_TRUE(fs::is_empty(shop_.folder() / "aside")) << said;
    EXPECT_EQ(said.find("/aside"), std::string::npos) << "the message names a temporary folder: " << said;
    return said;
  }
  std::string said_of(const Archive& archive) {
    archive.save(shop_.folder() / "evil.tar.zst");
    return said_of("evil.tar.zst");
  }
  void expect_refused(const std::string& said, const std::string& reason) {
    EXPECT_TRUE(said.starts_with("2 evil.tar.zst")) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << "wanted: " << reason << "\ngot: " << said;
  }

  std::string id_;
  Archive honest_;
};

TEST_F(BundleInALibrary, AnswersWhatItsRunAnswers) {
  const std::string wanted = "0 " + must("exp predict tiny --json 'Anna lives in Lund .'");
  must("mkdir away && mv encore.db* model away");
  EXPECT_EQ(said_of("tiny.tar.zst"), wanted);
  EXPECT_EQ(said_of("tiny.tar.zst " + id_.substr(0, 4)), wanted);
  EXPECT_EQ(said_of("tiny.tar.zst - old"), wanted) << "a program that knows no runs";
  EXPECT_EQ(said_of("tiny.tar.zst nothing"),
            "2 tiny.tar.zst holds no run whose id begins with \"nothing\"; it has " + id_ + "\n");
  EXPECT_EQ(said_of("away/model " + id_),
            "1 encore_options.run chooses a run of a bundle, but the path is a folder\n");
}

TEST_F(BundleInALibrary, NeedsTheNameOfOneOfSeveralRuns) {
  const std::string wanted = "0 " + must("exp predict tiny --json 'Anna lives in Lund .'");
  must("exp run tiny.toml -q -S name=other -S seed=2 && exp bundle all -o two.tar.zst");
  const std::string said = said_of("two.tar.zst");
  EXPECT_TRUE(said.starts_with("2 two.tar.zst holds 2 runs with parameters (")) << said;
  EXPECT_NE(said.find(id_), std::string::npos) << said;
  EXPECT_EQ(said_of("two.tar.zst " + id_), wanted);
  must("exp bundle tiny --weights none -o none.tar.zst");
  EXPECT_EQ(said_of("none.tar.zst"),
            "2 none.tar.zst holds no run with its parameters; make the bundle without --weights none\n");
}

TEST_F(BundleInALibrary, RejectsDamagedBundles) {
  const std::string bytes = content(shop_.folder() / "tiny.tar.zst");
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, bytes.size() / 2, bytes.size() - 1}) {
    shop_.write("evil.tar.zst", bytes.substr(0, length));
    expect_refused(said_of("evil.tar.zst"), length < 4 ? "is not compressed by zstd" : "cut off");
  }
  shop_.write("evil.tar.zst", bytes + "more");
  expect_refused(said_of("evil.tar.zst"), "has bytes behind its compressed content");
  shop_.write("evil.tar.zst", "a text that is not an archive");
  expect_refused(said_of("evil.tar.zst"), "is not compressed by zstd");
  Archive archive = honest_;
  archive.ends = false;
  expect_refused(said_of(archive), "its archive has no end");
  archive = honest_;
  archive.content("encore.db") += "x";  // a file that is not even unpacked
  expect_refused(said_of(archive), "encore.db has");
  archive = honest_;
  archive.content("encore.db").back() ^= 1;
  expect_refused(said_of(archive), "is not the file that its list names: it has another SHA-256");
  archive = honest_;
  archive.content("weights.safetensors").back() ^= 1;
  expect_refused(said_of(archive), "is not the file that its list names: it has another SHA-256");
}

TEST_F(BundleInALibrary, RejectsHostileBundles) {
  for (const auto& [head, reason] : std::vector<std::pair<std::string, std::string>>{
           {Archive::head("../evil", '0'), "leads out of its folder"},
           {Archive::head("/etc/evil", '0'), "is absolute"},
           {Archive::head("encore-bundle/evil", '2', 0, "/etc/passwd"), "is a symbolic link"},
           {Archive::head("encore-bundle/more", '0'), "which its list does not have"}}) {
    Archive archive = honest_;
    archive.more = head;
    expect_refused(said_of(archive), reason);
  }
  Archive archive = honest_;  // from here on with a list that fits
  archive.content("weights.safetensors").back() ^= 1;
  archive.list_again();
  expect_refused(said_of(archive), "weights.safetensors");
  archive = honest_;
  archive.content("specification.json") = "{\"run\": [";
  archive.list_again();
  expect_refused(said_of(archive), "specification.json");
  archive = honest_;
  archive.content("labels.txt") = "nothing\n";
  archive.list_again();
  expect_refused(said_of(archive), "labels.txt");
  EXPECT_FALSE(fs::exists(shop_.folder() / "evil"));
}

TEST_F(Library, ShowsNothingButItsHeader) {
  if (!Sandbox::has("nm")) GTEST_SKIP() << "nm is not installed";
  std::istringstream symbols(must("nm -D --defined-only prefix/lib/libencore_infer.so | cut -d' ' -f3"));
  int count = 0;
  for (std::string name; symbols >> name; ++count) EXPECT_TRUE(name.starts_with("encore_")) << name;
  EXPECT_EQ(count, 12);
}

}  // namespace
}  // namespace encore::system_test
