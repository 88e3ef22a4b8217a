// SPDX-License-Identifier: BSD-3-Clause
// Tests exp and encore-worker together (worker/train_verb.cpp, runner/runner.hpp): a run from file to
// prediction, equal bits after kills and with any number of threads, verification, and plugins that run no
// code unless they are allowed. Bits must stay equal in all these cases; the words of messages may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

constexpr const char* digests =
    "SELECT group_concat(step || ' ' || scope || ' ' || value, ', ') FROM (SELECT * FROM current_digest "
    "ORDER BY step, scope)";
constexpr const char* points =
    "SELECT count(*) || ' ' || count(DISTINCT step) FROM curve WHERE metric = 'train/loss'";

/// Returns an experiment that is longer than tiny.toml, so that there is time to kill it.
std::string longer_experiment() {
  std::string text = tiny_experiment();
  text.replace(text.find("epochs = 4"), 10, "epochs = 40\ncheckpoint_every = 20");
  return text;
}

class RealWorker : public ::testing::Test {
 protected:
  /// Skips the test if the worker does not run: a build for a GPU is also made on machines without one.
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  }
};

TEST_F(RealWorker, TrainsScoresEvaluatesAndPredicts) {
  const Sandbox sandbox(true);
  const runner::ProgramOutput run = sandbox.exp({"run", "tiny.toml"});
  ASSERT_EQ(run.end.exit_code, 0) << run.output << run.errors;
  EXPECT_TRUE(contains(run.output, "test F1 ")) << run.output;
  EXPECT_EQ(sandbox.one(points), "20 20");
  const runner::ProgramOutput whole = sandbox.exp({"ls", "--where", "epoch = 4 AND step = 20"});
  EXPECT_TRUE(contains(whole.output, "tiny"))
      << "the run must be listed as it was trained: " << whole.output << whole.errors;
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
  EXPECT_TRUE(contains(again.output, "nothing to do")) << again.output;

  const runner::ProgramOutput evaluate = sandbox.exp({"evaluate", "tiny", "test.conll", "--json"});
  ASSERT_EQ(evaluate.end.exit_code, 0) << evaluate.errors;
  const double stored = std::stod(sandbox.one("SELECT value FROM curve WHERE metric = 'test/f1'"));
  EXPECT_NEAR(nlohmann::json::parse(evaluate.output).at("measures").at("f1").get<double>(), stored, 1e-12)
      << "the same model on the same file";

  const runner::ProgramOutput missing = sandbox.exp({"evaluate", "tiny", "absent.conll"});
  EXPECT_EQ(missing.end.exit_code, 2);
  EXPECT_TRUE(missing.errors.starts_with("exp: ") && contains(missing.errors, "absent.conll"))
      << missing.errors;

  const runner::ProgramOutput predict =
      sandbox.exp({"predict", "tiny", "--format", "conll", "Anna lives in Lund ."});
  ASSERT_EQ(predict.end.exit_code, 0) << predict.errors;
  EXPECT_TRUE(predict.output.starts_with("Anna\t")) << predict.output;
}

TEST_F(RealWorker, PredictReportsLongLinesAndDamagedFiles) {
  const Sandbox sandbox(true);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  std::string words;
  for (int i = 0; i < 100; ++i) words += "Anna ";
  const runner::ProgramOutput cut =
      sandbox.exp({"predict", "tiny", "--format", "conll", "Anna lives .", words, words});
  EXPECT_EQ(cut.end.exit_code, 0);
  EXPECT_EQ(std::count(cut.output.begin(), cut.output.end(), '\n'), 206) << "every word has its line";
  EXPECT_TRUE(
      cut.errors.starts_with("encore-worker: line 2 is longer than data.max_length = 32 of the model: "
                             "entities are not looked for in its last "))
      << cut.errors;
  EXPECT_EQ(std::count(cut.errors.begin(), cut.errors.end(), '\n'), 1)
      << "one line of two is named: " << cut.errors;

  const std::filesystem::path folder =
      sandbox.folder() / "encore.db.runs" / sandbox.one("SELECT id FROM run");
  const runner::ProgramOutput whole = sandbox.exp({"predict", "tiny", "Anna"});
  EXPECT_EQ(whole.errors, "");
  std::filesystem::resize_file(folder / "weights.safetensors", 1000);
  const runner::ProgramOutput passed_over = sandbox.exp({"predict", "tiny", "Anna"});
  EXPECT_EQ(passed_over.output, whole.output);
  EXPECT_TRUE(
      passed_over.errors.starts_with("encore-worker: " + (folder / "weights.safetensors").string() + ": ") &&
      contains(passed_over.errors, "; using the best checkpoint, that of step "))
      << passed_over.errors;

  for (const auto& file : std::filesystem::directory_iterator(folder / "checkpoints"))
    std::filesystem::resize_file(file.path(), 100);
  const runner::ProgramOutput damaged = sandbox.exp({"predict", "tiny", "Anna"});
  EXPECT_EQ(damaged.end.exit_code, 1);
  EXPECT_TRUE(contains(damaged.errors, "is whole: ") && contains(damaged.errors, "exp run FILE --fresh"))
      << damaged.errors;
}

TEST_F(RealWorker, ShowAlignsTheNumericEnvironment) {
  const Sandbox sandbox(true);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  const std::string shown = sandbox.exp({"show", "tiny"}).output;
  std::set<std::size_t> columns;
  for (const std::string name : {"\n  backend ", "\n  compiler ", "\n  instruction_set "}) {
    const std::size_t at = shown.find(name, shown.find("numeric environment"));
    ASSERT_NE(at, std::string::npos) << name << shown;
    columns.insert(shown.find_first_not_of(' ', at + name.size()) - at);
  }
  EXPECT_EQ(columns.size(), 1u) << shown;
}

TEST_F(RealWorker, PredictRefusesTextThatIsNotUtf8) {
  const Sandbox sandbox(true);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  sandbox.write("notes.txt", "Zo\xC3\xAB lives in Lund .\nZo\xEB lives in Lund .\n");
  const runner::ProgramOutput refused = sandbox.exp({"predict", "tiny", "--file", "notes.txt"});
  EXPECT_EQ(refused.end.exit_code, 1);
  EXPECT_EQ(refused.output, "");
  EXPECT_TRUE(contains(refused.errors, "line 2 is not UTF-8; ")) << refused.errors;
  EXPECT_EQ(sandbox.exp({"predict", "tiny", "Zo\xC3\xAB lives in Lund ."}).end.exit_code, 0);
}

TEST_F(RealWorker, RejectsWhatOnlyTheModelKnowsWithItsPlace) {
  const Sandbox sandbox(true);
  std::string text = tiny_experiment();
  text.replace(text.find("heads = 2"), 9, "heads = 3");
  sandbox.write("tiny.toml", text);
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 2) << output.output;
  EXPECT_TRUE(contains(output.errors, "tiny.toml:21:9: ")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

/// 200 is the default of warmup_steps, but a user who writes it down has set it.
TEST_F(RealWorker, TwoWaysToGiveTheWarmUpAreRefusedWithTheirPlace) {
  const Sandbox sandbox(true);
  for (const std::string steps : {"2", "200"}) {
    std::string text = tiny_experiment();
    text.replace(text.find("type = \"constant\""), 17,
                 "type = \"linear\"\nwarmup_steps = " + steps + "\nwarmup_ratio = 0.1");
    sandbox.write("tiny.toml", text);
    const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_TRUE(contains(output.errors, "tiny.toml:")) << output.errors;
    EXPECT_TRUE(contains(
        output.errors, "warmup_ratio and warmup_steps = " + steps + " exclude each other: keep one of them"))
        << output.errors;
    EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
  }
}

TEST_F(RealWorker, DataThatCannotBeReadIsRefusedBeforeAnythingStarts) {
  const Sandbox sandbox(true);
  sandbox.write("dev.conll", "Anna\tB-PER\nonly-one-column\n\n");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 2) << output.output;
  EXPECT_TRUE(contains(output.errors, "dev.conll")) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

/// Digests of every epoch after kills at random moments equal those of a run without interruption, whatever
/// the processes were doing at these moments.
void expect_equal_bits_after_kills(int kills, unsigned seed) {
  const Sandbox calm(true);
  calm.write("tiny.toml", longer_experiment());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(calm.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);

  const Sandbox sandbox(true);
  sandbox.write("tiny.toml", longer_experiment());
  std::mt19937 random(seed);
  for (int i = 0; i < kills; ++i) {
    const pid_t exp = sandbox.start({"run", "tiny.toml"});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % static_cast<unsigned>(whole.count())));
    switch (random() % 3) {
      case 0:
        ::kill(exp, SIGKILL);
        break;
      case 1:
        for (pid_t worker : sandbox.workers()) ::kill(worker, SIGKILL);
        break;
      default:
        ::kill(exp, SIGINT);
    }
    ASSERT_TRUE(Sandbox::wait(exp));
    ASSERT_TRUE(sandbox.wait_until_no_workers());
  }
  const runner::ProgramOutput last = sandbox.exp({"run", "tiny.toml"});
  ASSERT_EQ(last.end.exit_code, 0) << last.output << last.errors;
  EXPECT_EQ(sandbox.one(digests), calm.one(digests));
  EXPECT_EQ(sandbox.one(points), calm.one(points)) << "no step is lost, none counts twice";
  EXPECT_EQ(sandbox.one("SELECT value FROM curve WHERE metric = 'test/f1'"),
            calm.one("SELECT value FROM curve WHERE metric = 'test/f1'"));
}

TEST_F(RealWorker, OneAndTwoThreadsGiveEqualBits) {
  const Sandbox one(true), two(true);
  ASSERT_EQ(one.exp({"run", "tiny.toml", "--threads", "1"}).end.exit_code, 0);
  ASSERT_EQ(two.exp({"run", "tiny.toml", "--threads", "2"}).end.exit_code, 0);
  EXPECT_FALSE(one.one(digests).empty());
  EXPECT_EQ(one.one(digests), two.one(digests));
}

TEST_F(RealWorker, TwoWorkersAtOnceGiveTheBitsOfOne) {
  const Sandbox one(true), two(true);
  for (const Sandbox* sandbox : {&one, &two})
    sandbox->write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  ASSERT_EQ(one.exp({"run", "sweep.toml", "-j", "1"}).end.exit_code, 0);
  const runner::ProgramOutput output = two.exp({"run", "sweep.toml", "-j", "2"});
  ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_TRUE(contains(output.output, "2 workers at once, 1 thread each")) << output.output;
  const char* all =
      "SELECT group_concat(name || ' ' || step || ' ' || scope || ' ' || value, ', ') FROM (SELECT run.name, "
      "step, scope, value FROM current_digest JOIN run ON run.number = current_digest.run ORDER BY run.name, "
      "step, scope)";
  EXPECT_FALSE(one.one(all).empty());
  EXPECT_EQ(one.one(all), two.one(all));
}

/// Writes scales.toml: two more layers of these types in each block, whose plugins are in the sandbox.
void write_scales(const Sandbox& sandbox, const std::string& first, const std::string& second) {
  std::string text = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
  const std::string block = "block = [\"attention\", \"feed_forward\"";
  text.replace(text.find(block), block.size(), block + ", \"one\", \"two\"");
  text += "[model.layer.one]\ntype = \"" + first + "\"\n[model.layer.two]\ntype = \"" + second + "\"\n";
  sandbox.write("scales.toml", text);
  for (const std::string name : {"scale_2", "scale_3"}) {
    const std::filesystem::path folder = sandbox.folder() / "plugins";
    const std::filesystem::path library = std::filesystem::path(SCALE_PLUGINS) / (name + ".so");
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(library, folder / library.filename());
    // A copy of the file in the build, whose RUNPATH leads to Encore's libraries.
    const runner::ProgramOutput tool = runner::run_program(
        ENCORE_BUILD_DIR "/bin/encore-manifest", {library.string(), (folder / (name + ".json")).string()});
    EXPECT_TRUE(tool.end.success()) << tool.errors;
  }
}

/// Returns the digest after training with two more layers of these types in each block.
std::string digest_with(const std::string& first, const std::string& second) {
  Sandbox sandbox(true);
  write_scales(sandbox, first, second);
  const runner::ProgramOutput output = sandbox.exp({"run", "scales.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  const runner::ProgramOutput graph = sandbox.exp({"export", "tiny", "--format", "onnx", "-o", "out"});
  EXPECT_EQ(graph.end.exit_code, 2);
  EXPECT_TRUE(contains(graph.errors, "the layer \"" + first + "\" of plugin ") &&
              contains(graph.errors,
                       "(encoder.0.one) has no ONNX form; let it inherit HasOnnxForm "
                       "(encore/onnx_form.hpp); export it with --format huggingface where"))
      << graph.errors;
  const std::size_t plugins = first == second ? 1 : 2;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM plugin WHERE name LIKE 'scale_%'"), std::to_string(plugins));
  return sandbox.one(digests);
}

/// Output of libraries and plugins goes to the standard error of the worker; each verb's answer is the same
/// as without it.
TEST_F(RealWorker, OutputOfLibrariesAndPluginsIsNotPartOfTheAnswer) {
  Sandbox sandbox(true);
  write_scales(sandbox, "scale_2", "scale_3");
  const auto out = [&](const std::vector<std::string>& arguments) {
    const runner::ProgramOutput output = sandbox.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << arguments.front() << ": " << output.output << output.errors;
    return output.output;
  };
  out({"run", "scales.toml", "-q"});
  const std::vector<std::vector<std::string>> commands = {
      {"predict", "tiny", "--json", "Anna lives in Lund ."},
      {"predict", "tiny", "Anna lives in Lund ."},
      {"evaluate", "tiny", "test.conll", "--json"},
      {"embed", "tiny", "Anna", "--json"},
      {"attention", "tiny", "Anna lives", "--json"},
      {"plan", "scales.toml", "--size", "--json"},
      {"plugin", "ls", "--load", "--json", "--plugin-path", "plugins"},
      {"version", "--worker", "--json"}};
  std::vector<std::string> quiet;
  for (const std::vector<std::string>& command : commands) quiet.push_back(out(command));
  for (const char* variable : {"SCALE_PRINTS", "DNNL_VERBOSE", "KOKKOS_PRINT_CONFIGURATION"})
    sandbox.set(variable, "1");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string loud = out(commands[i]);
    for (const char* part : {"a plugin prints", "onednn_verbose", "Kokkos Version"})
      EXPECT_FALSE(contains(loud, part)) << commands[i].front() << ": " << loud;
    if (commands[i].front() == "plugin") continue;  // it says how long loading took
    EXPECT_EQ(loud, quiet[i]) << commands[i].front();
  }
  const runner::ProgramOutput shown = sandbox.exp(commands[1]);
  EXPECT_TRUE(contains(shown.errors, "a plugin prints") && contains(shown.errors, "Kokkos Version"))
      << "it is not lost: " << shown.errors;
  out({"run", "scales.toml", "-q", "-S", "seed=7", "-S", "name=loud"});
  const runner::ProgramOutput checked = sandbox.exp({"plugin", "check", "plugins/scale_2.so", "--json"});
  EXPECT_TRUE(nlohmann::json::accept(checked.output)) << checked.output << checked.errors;
  EXPECT_TRUE(nlohmann::json::accept(out({"quantize", "tiny", "--tolerance", "10", "--json"})));
  const runner::ProgramOutput refused = sandbox.exp({"evaluate", "tiny", "absent.conll"});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(refused.errors.starts_with("exp: ")) << refused.errors;
}

TEST_F(RealWorker, TwoCopiesOfOneTemplateComputeEachItsOwn) {
  const std::string both = digest_with("scale_2", "scale_3");
  EXPECT_FALSE(both.empty());
  EXPECT_NE(both, digest_with("scale_2", "scale_2"));
  EXPECT_NE(both, digest_with("scale_3", "scale_3"));
  EXPECT_EQ(both, digest_with("scale_2", "scale_3"));
}

/// Returns the verdict of `exp verify tiny`, as JSON.
nlohmann::json verdict(const Sandbox& sandbox, std::vector<std::string> options, int exit_code = 0) {
  options.insert(options.begin(), {"verify", "tiny", "--json"});
  const runner::ProgramOutput output = sandbox.exp(options);
  EXPECT_EQ(output.end.exit_code, exit_code) << output.output << output.errors;
  return nlohmann::json::parse(output.output, nullptr, false);
}

TEST_F(RealWorker, VerifiesWithOtherThreadsAfterAKillAndFromACheckpoint) {
  const Sandbox sandbox(true);
  sandbox.write("tiny.toml", best_at_first(sandbox));
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "--threads", "1"}).end.exit_code, 0);
  const std::string digests_before = sandbox.one(digests);
  const nlohmann::json two = verdict(sandbox, {"--threads", "2"});
  EXPECT_EQ(two.at("outcome"), "equal");
  EXPECT_EQ(two.at("details").at("options").at("threads"), 2);
  EXPECT_EQ(two.at("details").at("compared").at("digests").get<int>(),
            std::stoi(sandbox.one("SELECT count(*) FROM current_digest")));
  EXPECT_EQ(two.at("details").at("compared").at("agreeing"), two.at("details").at("compared").at("digests"));
  EXPECT_GT(std::stoi(sandbox.one("SELECT count(*) FROM digest WHERE step = 3")), 10) << "tensor by tensor";

  for (const char* step : {"1", "7", "13"}) {
    const nlohmann::json killed = verdict(sandbox, {"--kill-at", step});
    EXPECT_EQ(killed.at("outcome"), "equal") << step;
    EXPECT_EQ(killed.at("details").at("went_on_from"), std::stoi(step) - 1);
  }
  EXPECT_EQ(verdict(sandbox, {"--steps", "4"}).at("details").at("compared").at("last_step"), 4);

  ASSERT_EQ(sandbox.one("SELECT result ->> '$.best_step' FROM run"), "5");
  EXPECT_EQ(verdict(sandbox, {"--from-checkpoint", "5"}).at("details").at("compared").at("first_step"), 6);
  EXPECT_EQ(sandbox.one(digests), digests_before);
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
}

TEST_F(RealWorker, VerifyFindsOtherBitsAndNamesTensorAndDistance) {
  const Sandbox sandbox(true);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const std::string file = "encore.db.runs/" + sandbox.one("SELECT id FROM run") + "/specification.json";
  const std::string original = sandbox.read(file);
  nlohmann::json specification = nlohmann::json::parse(original);
  ASSERT_EQ(specification.at("config").at("optimizer").at("learning_rate"), 1e-2);
  specification["config"]["optimizer"]["learning_rate"] = 1.0000001e-2;
  sandbox.write(file, specification.dump());
  const nlohmann::json different = verdict(sandbox, {}, 3);
  EXPECT_EQ(different.at("outcome"), "different");
  EXPECT_EQ(different.at("first_step"), 1) << "the initial values do not depend on it";
  EXPECT_FALSE(different.at("scope").get<std::string>().starts_with("parameters")) << "a tensor is named";
  EXPECT_NE(sandbox.one("SELECT count(*) FROM digest WHERE scope = '" +
                        different.at("scope").get<std::string>() + "'"),
            "0");
  const nlohmann::json& tensors = different.at("details").at("drift").at("steps").back().at("tensors");
  ASSERT_FALSE(tensors.empty());
  std::uint64_t ulps = 0;
  for (const nlohmann::json& tensor : tensors) ulps = std::max(ulps, tensor.at("ulps").get<std::uint64_t>());
  EXPECT_GT(ulps, 0u);

  // The same from another numeric environment: the verdict is open, and the field is named.
  sandbox.change("UPDATE attempt SET environment = json_set(environment, '$.device', 'another CPU')");
  const nlohmann::json elsewhere = verdict(sandbox, {}, 3);
  EXPECT_EQ(elsewhere.at("outcome"), "not comparable");
  EXPECT_EQ(elsewhere.at("details").at("environment").at("differences").at(0).at("field"), "device");
  EXPECT_EQ(elsewhere.at("details").at("environment").at("differences").size(), 1u);

  sandbox.write(file, original);
  EXPECT_EQ(verdict(sandbox, {}).at("outcome"), "equal") << "equal bits are equal wherever they came from";
}

TEST_F(RealWorker, AReportHasWhatTheWorkerReported) {
  const Sandbox sandbox(true);
  std::string sweep = tiny_experiment("sweep");
  sweep.replace(sweep.find("seed = 1"), 8, "seeds = [1, 2]");
  sandbox.write("sweep.toml", sweep + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml"}).end.exit_code, 0);
  const runner::ProgramOutput output = sandbox.exp({"report", "sweep", "--format", "json"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const std::string& report = output.output;
  for (const char* id :
       {"results-test-f1", "classes-test-f1", "confusion-test-f1", "trials", "curve-train-loss",
        "curve-dev-f1", "importance-test-f1", "timeline", "architecture", "parameters", "data-sizes",
        "data-labels", "lengths", "numeric-environments", "plugins", "digests-table"})
    EXPECT_TRUE(contains(report, "\"id\": \"" + std::string(id) + "\"")) << id;
  // The parts of the model add up to all of it, and the labels are those of all kept words.
  const nlohmann::json started =
      nlohmann::json::parse(sandbox.one("SELECT started_event FROM attempt LIMIT 1"));
  std::int64_t parameters = 0, words = 0, sentences = 0;
  for (const auto& [layer, count] : started.at("parameter_layers").items())
    parameters += count.get<std::int64_t>();
  EXPECT_EQ(parameters, started.at("parameters").get<std::int64_t>());
  const nlohmann::json& train = started.at("data").at("train");
  for (const auto& [label, count] : train.at("labels").items()) words += count.get<std::int64_t>();
  for (const nlohmann::json& count : train.at("lengths").at("counts")) sentences += count.get<std::int64_t>();
  EXPECT_EQ(sentences, train.at("examples").get<std::int64_t>());
  std::int64_t lines = 0;
  const std::string corpus = sandbox.read("train.conll");
  for (std::size_t at = 0; at < corpus.size(); ++at)
    lines += corpus[at] == '\n' && at > 0 && corpus[at - 1] != '\n';
  const auto& counts = train.at("counts");
  const auto cut = std::find_if(counts.begin(), counts.end(),
                                [](const nlohmann::json& count) { return count.at("name") == "cut words"; });
  ASSERT_NE(cut, counts.end());
  EXPECT_EQ(words + cut->at("value").get<std::int64_t>(), lines);
}

TEST_F(RealWorker, LoadsEverythingThatShips) {
  const runner::ProgramOutput output = Sandbox(true).exp({"plugin", "ls", "--load", "--json"});
  ASSERT_EQ(output.end.exit_code, 0) << output.errors;
  const nlohmann::json list = nlohmann::json::parse(output.output);
  EXPECT_TRUE(list.at("refused").empty()) << list.at("refused").dump(1);
  EXPECT_GT(list.at("load_milliseconds").get<double>(), 0.0);
}

TEST_F(RealWorker, OnlyLoadingShowsAManifestThatLies) {
  Sandbox sandbox(true);
  const std::filesystem::path built_in = ENCORE_BUILD_DIR "/lib/encore/plugins";
  std::filesystem::create_directory(sandbox.folder() / "plugins");
  std::filesystem::copy_file(built_in / "constant_schedule.so", sandbox.folder() / "plugins/liar.so");
  nlohmann::json manifest;
  std::ifstream(built_in / "constant_schedule.json") >> manifest;
  manifest["library"] = "liar.so";
  manifest["offers"][0]["name"] = "slow";
  sandbox.write("plugins/liar.json", manifest.dump());
  EXPECT_TRUE(contains(sandbox.exp({"plugin", "ls", "--plugin-path", "plugins"}).output, "0 refused"));
  const std::string text = sandbox.exp({"plugin", "ls", "--plugin-path", "plugins", "--load"}).output;
  EXPECT_TRUE(contains(text, "1 refused") && contains(text, "liar.json: does not describe liar.so: "))
      << text;

  std::string experiment = "plugin_path = [\"plugins\"]\n" + tiny_experiment();
  experiment.replace(experiment.find("\"constant\""), 10, "\"slow\"");
  sandbox.write("slow.toml", experiment);
  const runner::ProgramOutput run = sandbox.exp({"run", "slow.toml"});
  EXPECT_EQ(run.end.exit_code, 2) << "the check before the start loads what a run needs";
  EXPECT_TRUE(contains(run.errors, "schedule \"slow\" is version 1 in the manifest and absent in it"))
      << run.errors;
}

/// The specification of a finished run gets another plugin folder, with a plugin that replaces the schedule;
/// its library leaves a mark when it is loaded.
TEST_F(RealWorker, APlantedSpecificationRunsNoCodeUnlessItsFolderIsAllowed) {
  Sandbox sandbox(true);
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  nlohmann::json manifest;
  std::ifstream(ENCORE_BUILD_DIR "/lib/encore/plugins/constant_schedule.json") >> manifest;
  manifest["library"] = "planted_plugin.so";
  manifest["offers"][0]["name"] = "planted";
  sandbox.write("evil/planted.json", manifest.dump());
  std::filesystem::copy_file(PLANTED_PLUGIN, sandbox.folder() / "evil/planted_plugin.so");
  const std::string file = "encore.db.runs/" + sandbox.one("SELECT id FROM run") + "/specification.json";
  nlohmann::json specification = nlohmann::json::parse(sandbox.read(file));
  specification["config"]["schedule"] = {{"type", "planted"}};
  specification["plugin_folders"].insert(specification["plugin_folders"].begin(),
                                         (sandbox.folder() / "evil").string());
  sandbox.write(file, specification.dump());

  const std::filesystem::path mark = sandbox.folder() / "mark";
  sandbox.set("PLANTED_MARK", mark.string());
  for (const std::vector<std::string>& command : {std::vector<std::string>{"predict", "tiny", "Anna"},
                                                  {"evaluate", "tiny", "test.conll"},
                                                  {"verify", "tiny"}}) {
    const runner::ProgramOutput output = sandbox.exp(command);
    EXPECT_EQ(output.end.exit_code, 2);
    EXPECT_TRUE(contains(output.errors, "needs to load code that you have not used before")) << output.errors;
    EXPECT_FALSE(std::filesystem::exists(mark)) << command.front();
  }
  sandbox.exp({"predict", "tiny", "Anna", "--plugin-path", "evil"});
  EXPECT_EQ(sandbox.read("mark"), "executed") << "this library does act when it is loaded";
}

TEST_F(RealWorker, KillsAtRandomMomentsLeaveEqualBits) {
  expect_equal_bits_after_kills(3, 1);
}
// --gtest_also_run_disabled_tests --gtest_filter=*Twenty*: all kills, half a minute to minutes.
TEST_F(RealWorker, DISABLED_TwentyKillsLeaveEqualBits) {
  expect_equal_bits_after_kills(20, 2);
}

}  // namespace
}  // namespace encore::system_test
