// SPDX-License-Identifier: BSD-3-Clause
// `exp plugin check` as a user calls it (cli/plugin_check.cpp, app/plugin_check.cpp): on a shipped plugin, on
// the mutants, which are shipped plugins with one changed line (mutants/CMakeLists.txt), and on the plugins
// in fixtures/, which misbehave in their worker. Each mistake must be found, and be named by the check that
// is meant for it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "runner/worker_process.hpp"
#include "support/places.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path build = ENCORE_BUILD_DIR;
const fs::path samples = build / "tests/contract/samples";

/// The folder in which passed checks are recorded here, instead of the user's own cache.
const fs::path cache = build / "tests/contract/cache";

runner::ProgramOutput check(const fs::path& file, std::vector<std::string> options = {}) {
  ::setenv("ENCORE_CACHE", cache.c_str(), 1);
  options.insert(options.begin(), {"plugin", "check", file.string()});
  return runner::run_program(build / "bin/exp", options);
}

/// The names, detail and verdict of every check.
json checks_of(const fs::path& file) {
  const runner::ProgramOutput answer = check(file, {"--json"});
  return json::parse(answer.output, nullptr, false);
}

/// Returns a manifest for a plugin that cannot write its own, from that of another plugin.
void write_manifest(const std::string& name) {
  json manifest = json::parse(std::ifstream(samples / "thread_sum.json"));
  manifest["name"] = name;
  manifest["library"] = name + ".so";
  manifest["offers"][0]["name"] = name;
  std::ofstream(samples / (name + ".json")) << manifest;
}

bool has_onnxruntime() {
  return runner::run_program("/bin/sh", {"-c", "python3 -c 'import numpy, onnxruntime'"}).end.success();
}

TEST(PluginCheck, PassesAShippedPlugin) {
  const runner::ProgramOutput answer = check(build / "lib/encore/plugins/layer_norm.so");
  EXPECT_EQ(answer.end.exit_code, 0) << answer.output << answer.errors;
  EXPECT_NE(answer.output.find("ok    layer \"layer_norm\": gradients: "), std::string::npos)
      << answer.output;
  EXPECT_NE(
      answer.output.find(has_onnxruntime() ? "17 checks passed\n" : "16 checks passed, 1 not checked\n"),
      std::string::npos)
      << answer.output;
}

/// `exp run` warns of a plugin without such a note: PluginChangeTest.
TEST(PluginCheck, NotesAPassUnderTheHashOfTheFile) {
  const auto note = [](const fs::path& file) {
    return cache / "plugin_checks" / (sha256_of_file(file) + ".json");
  };
  const fs::path shipped = build / "lib/encore/plugins/constant_schedule.so",
                 wrong = samples / "thread_sum.so";
  fs::remove_all(cache);
  EXPECT_EQ(check(shipped).end.exit_code, 0);
  const json pass = json::parse(std::ifstream(note(shipped)), nullptr, false);
  ASSERT_TRUE(pass.is_object());
  EXPECT_EQ(pass["file"], shipped.string());
  EXPECT_EQ(check(wrong).end.exit_code, 1);
  EXPECT_FALSE(fs::exists(note(wrong)));
}

TEST(PluginCheck, NamesWhatThreadsChange) {
  const json answer = checks_of(samples / "thread_sum.so");
  ASSERT_TRUE(answer.is_object());
  EXPECT_FALSE(answer["passed"].get<bool>());
  for (const json& finding : answer["checks"]) {
    EXPECT_EQ(finding["passed"].get<bool>(), finding["check"] != "threads") << finding;
    if (finding["check"] != "threads") continue;
    const std::string detail = finding["detail"];
    EXPECT_NE(detail.find(" gradient of gain has different bits with "), std::string::npos) << detail;
  }
}

TEST(PluginCheck, ReportsTheSignalOfACrashWhileLoading) {
  write_manifest("crash_at_start");
  const runner::ProgramOutput answer = check(samples / "crash_at_start.so");
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find(
                "FAIL  crash_at_start.so: opening the plugin: the plugin crashed its worker: signal 11 "
                "(Segmentation fault)"),
            std::string::npos)
      << answer.output;
}

TEST(PluginCheck, SaysInWhichCheckALayerCrashed) {
  const runner::ProgramOutput answer = check(samples / "crash_in_forward.so");
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find("ok    layer \"crash_in_forward\": options"), std::string::npos)
      << answer.output;
  EXPECT_NE(answer.output.find(
                "FAIL  layer \"crash_in_forward\": gradients: the plugin crashed its worker: signal 11 "
                "(Segmentation fault) during forward"),
            std::string::npos)
      << answer.output;
  EXPECT_NE(
      answer.output.find(
          "skip  layer \"crash_in_forward\": overwriting: not run, because gradients ended the worker\n"),
      std::string::npos)
      << answer.output;
  EXPECT_TRUE(answer.output.ends_with("1 of 17 checks failed, 14 skipped because of it\n")) << answer.output;
}

TEST(PluginCheck, IsNotFooledByAPluginThatEndsItsWorker) {
  const runner::ProgramOutput answer = check(samples / "exit_in_forward.so");
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find("FAIL  layer \"exit_in_forward\": gradients: the plugin ended its worker: "
                               "exit code 0"),
            std::string::npos)
      << answer.output;
}

TEST(PluginCheck, EndsAPluginThatHangs) {
  // On a busy machine even the start of the worker may take longer than the limit, so it grows.
  runner::ProgramOutput answer;
  std::string limit;
  for (const char* seconds : {"6", "24", "96", "384"}) {
    answer = check(samples / "hang_in_forward.so", {"--timeout", limit = seconds});
    EXPECT_EQ(answer.end.exit_code, 1);
    if (answer.output.find("ok    layer \"hang_in_forward\": options") != std::string::npos) break;
  }
  EXPECT_NE(
      answer.output.find(
          "FAIL  layer \"hang_in_forward\": gradients: no output for " + limit +
          " s, so its worker was stopped during forward; if the check needs longer, pass --timeout SECONDS"),
      std::string::npos)
      << answer.output;
  EXPECT_NE(answer.errors.find("exp: layer \"hang_in_forward\": gradients: still running after 5 s\n"),
            std::string::npos)
      << answer.errors;
  EXPECT_TRUE(answer.output.ends_with("1 of 17 checks failed, 14 skipped because of it\n")) << answer.output;
  const runner::ProgramOutput refused = check(samples / "hang_in_forward.so", {"--timeout", "0"});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_NE(refused.errors.find("invalid --timeout 0: expected at least 1"), std::string::npos)
      << refused.errors;
}

TEST(PluginCheck, OneCauseIsOneFailureAndTheTotalStays) {
  const runner::ProgramOutput answer = check(samples / "undeclared_option.so");
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find(
                "FAIL  layer \"undeclared_option\": declaration: layer \"undeclared_option\" asks for "
                "option \"distanze\", which its options() does not declare; did you mean "
                "\"distance\"?\n"),
            std::string::npos)
      << answer.output;
  for (const std::string name : {"gradients", "overwriting", "sum", "threads"})
    EXPECT_NE(answer.output.find("skip  layer \"undeclared_option\": " + name +
                                 ": the same cause as declaration\n"),
              std::string::npos)
        << answer.output;
  EXPECT_TRUE(answer.output.ends_with("1 of 17 checks failed, 15 skipped because of it\n")) << answer.output;
  EXPECT_EQ(answer.output.find("FAIL"), answer.output.rfind("FAIL")) << answer.output;
  const json told = checks_of(samples / "undeclared_option.so");
  EXPECT_EQ(told["checks"].size(), 17u);
  EXPECT_EQ(told["checks"].back()["skipped"], true) << told.dump(1);
}

TEST(PluginCheck, SaysWhatItCouldNotCheck) {
  // `env` finds no python3 in such a PATH; nothing else uses it.
  ::setenv("ENCORE_CACHE", cache.c_str(), 1);
  const runner::ProgramOutput answer =
      runner::run_program("/usr/bin/env", {"PATH=/nowhere", (build / "bin/exp").string(), "plugin", "check",
                                           (build / "lib/encore/plugins/layer_norm.so").string()});
  EXPECT_EQ(answer.end.exit_code, 0) << answer.output << answer.errors;
  EXPECT_NE(
      answer.output.find("open  layer \"layer_norm\": ONNX form: not checked: python3 cannot be started: "
                         "No such file or directory\n"),
      std::string::npos)
      << answer.output;
  EXPECT_TRUE(answer.output.ends_with("16 checks passed, 1 not checked\n")) << answer.output;
}

TEST(PluginCheck, NamesAReaderThatAbortsOnNul) {
  const runner::ProgramOutput answer = check(samples / "abort_on_nul.so");
  EXPECT_EQ(answer.end.exit_code, 1) << answer.output;
  EXPECT_NE(
      answer.output.find("FAIL  reader \"abort_on_nul\": fields: the plugin crashed its worker: signal 6 "
                         "(Aborted)"),
      std::string::npos)
      << answer.output;
}

TEST(PluginCheck, TakesSettingsDataAndSizes) {
  const fs::path file = build / "tests/contract/levels.tsv";
  std::ofstream(file) << "never better\tgood\nthe worst\tbad\nfine work\tgood\n";
  const std::string data = file.string();
  runner::ProgramOutput answer =
      check(build / "lib/encore/plugins/classify.so", {"--data", data, "-S", "data.type=tsv"});
  EXPECT_EQ(answer.end.exit_code, 0) << answer.output << answer.errors;
  EXPECT_NE(answer.output.find("labels: 2 classes"), std::string::npos) << answer.output;
  answer = check(build / "lib/encore/plugins/classify.so", {"--data", data});
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find("levels.tsv: the plugin has no reader for it; name one that gives \"text\", "
                               "\"label\", as in -S data.type=tsv"),
            std::string::npos)
      << answer.output;
  std::ofstream(file) << "a fine film\t3\na dull film\t1\na great film\t5\n";
  answer = check(build / "lib/encore/plugins/regress.so", {"--data", data, "-S", "data.type=tsv"});
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find("levels.tsv: reader \"tsv\" does not give \"number\", which it needs; add -S "
                               "data.label_type=number\n"),
            std::string::npos)
      << answer.output;
  answer = check(build / "lib/encore/plugins/regress.so",
                 {"--data", data, "-S", "data.type=tsv", "-S", "data.label_type=number"});
  EXPECT_EQ(answer.end.exit_code, 0) << answer.output << answer.errors;
  answer = check(build / "lib/encore/plugins/classify.so", {"--data", data, "-S", "data.type=tvs"});
  EXPECT_EQ(answer.end.exit_code, 2);
  EXPECT_NE(answer.errors.find("-S data.type=tvs: no plugin offers a reader \"tvs\"; did you mean \"tsv\"?"),
            std::string::npos)
      << answer.errors;
  answer = check(build / "lib/encore/plugins/layer_norm.so",
                 {"-S", "epsilon=0.5", "--width", "20", "--length", "9"});
  EXPECT_EQ(answer.end.exit_code, 0) << answer.output << answer.errors;
  EXPECT_NE(answer.output.find("large sizes: gradients, packing and precisions at width x rows 20 x 9\n"),
            std::string::npos)
      << answer.output;
  answer = check(build / "lib/encore/plugins/layer_norm.so", {"-S", "epsilom=0.5"});
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(
      answer.output.find("-S epsilom=0.5: nothing that is checked has an option \"epsilom\"; did you mean "
                         "\"epsilon\"?"),
      std::string::npos)
      << answer.output;
  answer = check(build / "lib/encore/plugins/layer_norm.so", {"--width", "0"});
  EXPECT_EQ(answer.end.exit_code, 2);
  EXPECT_NE(answer.errors.find("invalid --width 0: expected a number of at least 1"), std::string::npos)
      << answer.errors;
}

TEST(PluginCheck, RefusesAFileThatIsNotAPlugin) {
  runner::ProgramOutput answer = check("nowhere.so");
  EXPECT_EQ(answer.end.exit_code, 2);
  EXPECT_NE(answer.errors.find("nowhere.so: no such file; build the plugin first: exp plugin build DIR"),
            std::string::npos)
      << answer.errors;

  const fs::path lonely = samples / "lonely.so";
  fs::copy_file(samples / "thread_sum.so", lonely, fs::copy_options::overwrite_existing);
  answer = check(lonely);
  EXPECT_EQ(answer.end.exit_code, 2);
  EXPECT_NE(
      answer.errors.find("lonely.so: the manifest lonely.json beside it is missing; run exp plugin build"),
      std::string::npos)
      << answer.errors;

  write_manifest("truncated");
  std::ofstream(samples / "truncated.so") << "\x7f"
                                             "ELF and nothing more";
  answer = check(samples / "truncated.so");
  EXPECT_EQ(answer.end.exit_code, 1);
  EXPECT_NE(answer.output.find("truncated.so: cannot be loaded: "), std::string::npos) << answer.output;
}

TEST(PluginCheck, RefusesAForeignManifestBeforeItsLibraryIsOpened) {
  // Opening this library would crash.
  fs::copy_file(samples / "crash_at_start.so", samples / "foreign.so", fs::copy_options::overwrite_existing);
  write_manifest("foreign");
  json manifest = json::parse(std::ifstream(samples / "foreign.json"));
  std::string fingerprint = manifest["fingerprint"];
  const std::size_t begin = fingerprint.find("kokkos=") + 7, end = fingerprint.find(';', begin);
  ASSERT_LT(end, fingerprint.size()) << fingerprint;
  const std::string here = fingerprint.substr(begin, end - begin);
  manifest["fingerprint"] = fingerprint.replace(begin, end - begin, "3.7.2");
  std::ofstream(samples / "foreign.json") << manifest;
  const runner::ProgramOutput answer = check(samples / "foreign.so");
  EXPECT_EQ(answer.end.exit_code, 1) << answer.errors;
  EXPECT_NE(
      answer.output.find("plugin \"foreign\" was built for another Encore: kokkos is 3.7.2 in the plugin "
                         "and " +
                         here + " here; rebuild it: "),
      std::string::npos)
      << answer.output;
  for (const std::string field : {"compiler is", "sdk is", "backend is", "Segmentation"})
    EXPECT_EQ((answer.output + answer.errors).find(field), std::string::npos)
        << "only what differs: " << field;
}

/// Each mutant is a shipped plugin with one changed line (mutants/CMakeLists.txt), and names
/// the check that must find it.
TEST(Mutants, AreAllCaughtAndNamed) {
  if (ENCORE_MUTANT_COUNT == 0) GTEST_SKIP() << "mutants are built for the host only";
  int mutants = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(build / "tests/contract/mutants")) {
    if (entry.path().extension() != ".so") continue;
    const json answer = checks_of(entry.path());
    ASSERT_TRUE(answer.is_object()) << entry.path();
    ++mutants;
    std::string check;
    std::getline(std::ifstream(fs::path(entry.path()).replace_extension(".check")), check);
    if (check == "ONNX form" && !has_onnxruntime()) continue;
    std::string said;
    for (const json& finding : answer["checks"])
      if (finding["check"] == check && !finding["passed"].get<bool>())
        said += finding["detail"].get<std::string>();
    const std::string word = check == "gradients"   ? "analytic"
                             : check == "ONNX form" ? "onnxruntime gets other results"
                                                    : "does the constructor read this option";
    EXPECT_NE(said.find(word), std::string::npos)
        << entry.path() << " passes the check " << check << ": " << answer.dump(1);
  }
  EXPECT_EQ(mutants, ENCORE_MUTANT_COUNT);
}

}  // namespace
}  // namespace encore
