// SPDX-License-Identifier: BSD-3-Clause
// Tests resolve() (config/resolve.hpp), which checks and completes the tables of one run: the complete result
// for a correct experiment, and the exact message, with line and column, for the mistakes that users make.
// Before it comes experiment_file_test.cpp, after it plan/. The sample is in sample_catalogue.hpp. The result
// is hashed to a run's identity, so defaults must not change.
#include "config/resolve.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/experiment_file.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::config {
namespace {

using sample::changed;

Resolved resolved(const std::string& text, Problems& problems) {
  static const Catalogue catalogue = sample::catalogue();
  return resolve(parse_experiment_file(text, "dir/a.toml").root, catalogue, problems);
}

/// Returns all messages about an experiment file with this text, one on a line; empty if there are none.
std::string resolve_problems(const std::string& text) {
  Problems problems;
  resolved(text, problems);
  std::string all;
  for (const Problem& found : problems.all()) all += (all.empty() ? "" : "\n") + found.text();
  return all;
}

/// Returns the messages about the sample experiment after the only `from` in it became `to`.
std::string problem_with(const std::string& from, const std::string& to) {
  return resolve_problems(changed(sample::experiment, from, to));
}

TEST(Resolve, CompletesEveryTable) {
  Problems problems;
  const Resolved run = resolved(sample::experiment, problems);
  ASSERT_TRUE(problems.empty()) << resolve_problems(sample::experiment);
  const std::string folder = std::filesystem::current_path().string() + "/dir/corpus";
  const nlohmann::json expected = {
      {"task", {{"type", "ner"}}},
      {"data",
       {{"type", "conll"},
        {"root", folder},
        {"stratify", false},
        {"train", folder + "/train.conll"},
        {"dev", folder + "/dev.conll"},
        {"max_length", 256},
        {"private", false}}},
      {"tokenizer", {{"type", "wordpiece"}, {"vocab_size", 4000}, {"keep", nlohmann::json::array()}}},
      {"model",
       {{"width", 8},
        {"layers", 2},
        {"causal", false},
        {"groups", 0},
        {"dropout", 0.1},
        {"positions", "sinusoidal"},
        {"position_layout", "pairs"},
        {"max_positions", 0},
        {"segments", 0},
        {"embedding_norm", false},
        {"embedding_width", 0},
        {"embedding_scale", "sqrt_width"},
        {"norm", "layer_norm"},
        {"norm_position", "post"},
        {"block", {"attention", "feed_forward"}},
        {"head", {{"type", "linear"}, {"residual_norm", false}}},
        {"layer",
         {{"attention", {{"type", "self_attention"}, {"heads", 2}, {"dropout", 0.0}}},
          {"feed_forward", {{"type", "feed_forward"}, {"hidden", 16}, {"activation", "relu"}}},
          {"layer_norm", {{"type", "layer_norm"}, {"epsilon", 1e-5}}}}}}},
      {"optimizer", {{"type", "adamw"}, {"learning_rate", 5e-4}, {"weight_decay", 0.01}}},
      {"schedule", {{"type", "linear"}, {"warmup_steps", 20}}},
      {"train", {{"batch_size", 32},       {"epochs", 3},
                 {"precision", "float32"}, {"loss_scale_steps", 2000},
                 {"recompute", "cheap"},   {"clip_norm", 1.0},
                 {"select", "max dev/f1"}, {"patience", 0},
                 {"evaluate_every", 0},    {"checkpoint_every", 0},
                 {"batching", "packed"},   {"freeze", nlohmann::json::array()},
                 {"gradient_shards", 1},   {"label_smoothing", 0.0},
                 {"layer_decay", 1.0},     {"lora", nlohmann::json::array()},
                 {"lora_alpha", 16.0},     {"lora_rank", 8},
                 {"digest_steps", 10},     {"show_attention", 0}}}};
  EXPECT_EQ(run.config, expected) << nlohmann::json::diff(expected, run.config).dump(1);
}

TEST(Resolve, KnowsTheOriginOfEveryOption) {
  Problems problems;
  const Resolved run = resolved(sample::experiment, problems);
  std::size_t options = 0, types = 0;
  for (const auto& [key, table] : run.tables) {
    options += table.options.values().size();
    types += table.offer != nullptr;
  }
  EXPECT_EQ(run.origin.size(), options + types);
  EXPECT_EQ(run.origin.at("model.width").place.text(), "dir/a.toml:13:9");
  EXPECT_EQ(run.origin.at("model.head.type").place.text(), "dir/a.toml:23:8");
  EXPECT_EQ(run.origin.at("train.patience").source, Source::fallback);
  EXPECT_EQ(run.origin.at("train.patience").place.text(), "dir/a.toml:30:1");
  EXPECT_EQ(run.origin.at("model.layer.layer_norm.epsilon").source, Source::fallback);
}

TEST(Resolve, ANormMayHaveATableOfItsOwn) {
  Problems problems;
  const std::string text =
      changed(sample::experiment, "[model.head]",
              "[model.layer.final]\ntype = \"layer_norm\"\nepsilon = 1e-3\n[model.head]");
  const Resolved run = resolved(changed(text, "layers = 2", "layers = 2\nnorm = \"final\""), problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(run.config["model"]["layer"]["final"],
            (nlohmann::json{{"type", "layer_norm"}, {"epsilon", 1e-3}}));
  EXPECT_FALSE(run.config["model"]["layer"].contains("layer_norm"));
}

TEST(Resolve, ReportsUnusedLayerTables) {
  Problems problems;
  const Resolved run =
      resolved(changed(sample::experiment, "[\"attention\", \"feed_forward\"]", "[\"attention\"]"), problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(run.unused_layers.size(), 1U);
  EXPECT_EQ(run.unused_layers.at("feed_forward").text(), "dir/a.toml:19:14");
  EXPECT_FALSE(run.config["model"]["layer"].contains("feed_forward"));
}

TEST(Resolve, DataPathsStartFromTheRootAndTheRootFromTheFile) {
  Problems problems;
  const Resolved run = resolved(
      changed(changed(sample::experiment, "root = \"corpus\"\n", ""), "\"dev.conll\"", "\"/d\""), problems);
  EXPECT_EQ(run.config["data"]["train"], std::filesystem::current_path().string() + "/dir/train.conll");
  EXPECT_EQ(run.config["data"]["dev"], "/d");
  EXPECT_FALSE(run.config["data"].contains("root"));
}

TEST(Resolve, PointsAtAMistypedOption) {
  EXPECT_EQ(problem_with("heads = 2", "haeds = 2"),
            "dir/a.toml:18:1: unknown option \"haeds\" of layer \"self_attention\"; did you mean \"heads\"?");
  EXPECT_EQ(problem_with("epochs = 3", "epochs = 3\nepoch = 3"),
            "dir/a.toml:32:1: unknown option \"epoch\" of [train]; did you mean \"epochs\"?");
  EXPECT_EQ(problem_with("[model.head]\n", "[model.heed]\n"),
            "dir/a.toml:1:1: table [model.head] is missing; it must name a head as its type: \"linear\"\n"
            "dir/a.toml:22:8: unknown option \"heed\" of [model]; did you mean \"head\"?");
}

TEST(Resolve, SaysToWhichTableAMisplacedOptionBelongs) {
  const auto in_train = [](const std::string& line) {
    return problem_with("epochs = 3", "epochs = 3\n" + line);
  };
  const auto unknown = [](const std::string& option, const std::string& rest) {
    return "dir/a.toml:32:1: unknown option \"" + option + "\" of [train]; " + rest;
  };
  EXPECT_EQ(in_train("learning_rate = 1e-3"), unknown("learning_rate", "it is an option of [optimizer]"));
  EXPECT_EQ(in_train("max_length = 64"), unknown("max_length", "it is an option of [data]"));
  EXPECT_EQ(in_train("vocab_size = 64"), unknown("vocab_size", "it is an option of [tokenizer]"));
  EXPECT_EQ(in_train("seeds = [1]"), unknown("seeds", "it stands at the top of the file"));
  EXPECT_EQ(in_train("draws = 3"), unknown("draws", "it is an option of [sweep]"));
  EXPECT_EQ(in_train("dropout = 0.1"),
            unknown("dropout", "it is an option of [model] and [model.layer.attention]"));
  // The norm has no table yet; a table [model.layer.layer_norm] would belong to it.
  EXPECT_EQ(in_train("epsilon = 1e-6"), unknown("epsilon", "it is an option of [model.layer.layer_norm]"));
  // No table of the experiment has this option, but tables of other types would.
  EXPECT_EQ(in_train("momentum = 0.9"), unknown("momentum", "it is an option of optimizer \"sgd\""));
  // An option of many tables gives no hint.
  EXPECT_EQ(in_train("type = 3").substr(0, 60), unknown("type", "it takes \"batch_size\"").substr(0, 60));
}

TEST(Resolve, TakesATableOfADecoder) {
  const std::string decoder = "block = [\"attention\", \"feed_forward\"]\ndecoder = ";
  const auto of_decoder = [&](const std::string& table) {
    const std::string text = problem_with("block = [\"attention\", \"feed_forward\"]", decoder + table);
    const std::size_t begin = text.find(": ") + 2;
    return text.substr(begin, text.find('\n') - begin);
  };
  EXPECT_EQ(of_decoder("{ layers = 1, block = [\"attenton\"] }"),
            "\"block\" of [model.decoder] names \"attenton\", but there is no table [model.layer.attenton]; "
            "did you mean "
            "\"attention\"?");
  EXPECT_EQ(of_decoder("{ layers = 1, block = [\"attention\", \"attention\"] }"),
            "\"block\" of [model.decoder] names \"attention\" twice; each sub-layer needs a table of its "
            "own, because its "
            "name is part of the names of its parameters");
  EXPECT_EQ(of_decoder("{ layers = 1, blocks = [\"attention\"] }"),
            "unknown option \"blocks\" of [model.decoder]; did you mean \"block\"?");
}

TEST(Resolve, SuggestsANearNameBesideTheTableOfTheVeryName) {
  EXPECT_EQ(
      problem_with("width = 8", "width = 8\nheads = 2"),
      "dir/a.toml:14:1: unknown option \"heads\" of [model]; it is an option of [model.layer.attention]; or "
      "did you mean \"head\"?");
  // A similar name in the same table is more likely than a type that is not in use.
  EXPECT_EQ(
      problem_with("epochs = 3", "epochs = 3\nhiden = 4"),
      "dir/a.toml:32:1: unknown option \"hiden\" of [train]; it takes \"batch_size\", \"batch_tokens\", "
      "\"epochs\", \"steps\", \"precision\", \"loss_scale\", \"loss_scale_steps\", \"recompute\", "
      "\"clip_norm\", "
      "\"select\", \"patience\", \"evaluate_every\", "
      "\"checkpoint_every\", \"batching\", \"gradient_shards\", \"label_smoothing\", \"freeze\", "
      "\"layer_decay\", \"lora\", \"lora_rank\", \"lora_alpha\", \"digest_steps\", \"show_attention\", "
      "\"retrains\"");
}

TEST(Resolve, PointsAtATypeThatNoPluginOffers) {
  EXPECT_EQ(problem_with("\"self_attention\"", "\"self_atention\""),
            "dir/a.toml:17:8: no plugin offers a layer \"self_atention\"; did you mean \"self_attention\"? "
            "(searched: no "
            "folder)");
  EXPECT_EQ(problem_with("\"adamw\"", "\"lamb\""),
            "dir/a.toml:25:8: no plugin offers an optimizer \"lamb\"; there is \"adamw\", \"sgd\" (searched: "
            "no folder)");
  EXPECT_EQ(problem_with("\"adamw\"", "3"),
            "dir/a.toml:25:8: option \"type\" of [optimizer] must be text in quotes, found the integer 3");
  EXPECT_EQ(
      problem_with("layers = 2", "layers = 2\nnorm = \"layer_nrm\""),
      "dir/a.toml:15:8: option \"norm\" of [model]: no plugin offers a layer \"layer_nrm\"; did you mean "
      "\"layer_norm\"? (searched: no folder)");
}

TEST(Resolve, NamesTablesThatAreMissing) {
  EXPECT_EQ(problem_with("[train]\nepochs = 3\n", ""),
            "dir/a.toml:1:1: table [train] is missing; it must have \"epochs\" or \"steps\"");
  EXPECT_EQ(problem_with("[model.head]\ntype = \"linear\"\n", ""),
            "dir/a.toml:1:1: table [model.head] is missing; it must name a head as its type: \"linear\"");
  EXPECT_EQ(
      problem_with(
          "[data]\ntype = \"conll\"\nroot = \"corpus\"\ntrain = \"train.conll\"\ndev = \"dev.conll\"\n", ""),
      "dir/a.toml:1:1: table [data] is missing; it must name a reader as its type: \"conll\", \"tsv\", and "
      "have \"train\"");
  EXPECT_EQ(problem_with("type = \"adamw\"\n", ""),
            "dir/a.toml:24:1: table [optimizer] must name an optimizer as its type: \"adamw\", \"sgd\"");
  EXPECT_EQ(
      problem_with("[schedule]\ntype = \"linear\"\nwarmup_steps = 20\n", "[[schedule]]\ntype = \"linear\"\n"),
      "dir/a.toml:27:1: [schedule] must be a table, found a list");
}

TEST(Resolve, NamesOptionsThatAreMissing) {
  EXPECT_EQ(problem_with("hidden = 16\n", ""),
            "dir/a.toml:19:1: option \"hidden\" of layer \"feed_forward\" is missing; it must be an integer "
            "(a size)");
  EXPECT_EQ(problem_with("width = 8\n", ""),
            "dir/a.toml:12:1: option \"width\" of [model] is missing; it must be an integer (size of a "
            "token's state, C)");
}

TEST(Resolve, RefusesABlockThatDoesNotFitItsTables) {
  EXPECT_EQ(problem_with("[\"attention\", ", "[\"attenton\", "),
            "dir/a.toml:15:10: \"block\" of [model] names \"attenton\", but there is no table "
            "[model.layer.attenton]; did "
            "you mean \"attention\"?");
  EXPECT_EQ(problem_with("[\"attention\", \"feed_forward\"]", "[\"attention\", \"attention\"]"),
            "dir/a.toml:15:23: \"block\" of [model] names \"attention\" twice; each sub-layer needs a table "
            "of its own, "
            "because its name is part of the names of its parameters");
  EXPECT_EQ(problem_with("[\"attention\", \"feed_forward\"]", "[]"),
            "dir/a.toml:15:9: \"block\" of [model] is empty; it names the sub-layers");
  EXPECT_EQ(problem_with("[model.layer.attention]",
                         "[model.layer.attention.x]\n[model.layer.\"a b\"]\ntype = \"layer_norm\"\n"
                         "[model.layer.attention]"),
            "dir/a.toml:16:24: unknown option \"x\" of layer \"self_attention\"; it takes \"heads\", "
            "\"dropout\", \"type\"\n"
            "dir/a.toml:17:14: \"a b\" cannot be the name of a layer: it becomes part of the names of its "
            "parameters, so "
            "only letters, digits, \"_\" and \"-\" may stand in it");
}

TEST(Resolve, ATableOfPositionsIsLearnedAndLongEnough) {
  const auto with = [](const std::string& lines) {
    return problem_with("layers = 2", "layers = 2\n" + lines);
  };
  EXPECT_EQ(with("positions = \"learned\"\nmax_positions = 512"), "");
  EXPECT_EQ(with("positions = \"learned\"\nmax_positions = 256"), "") << "data.max_length";
  EXPECT_EQ(
      with("positions = \"learned\"\nmax_positions = 255"),
      "dir/a.toml:16:17: option \"max_positions\" of [model] is 255, but sequences have up to 256 tokens "
      "(data.max_length); shorten them, or let the table grow");
  EXPECT_EQ(with("max_positions = 512"),
            "dir/a.toml:15:17: option \"max_positions\" of [model] is 512, which is for learned positions; "
            "remove it, or set positions = \"learned\"");
  EXPECT_EQ(with("position_layout = \"halves\""), "");
  EXPECT_EQ(with("positions = \"learned\"\nposition_layout = \"halves\""),
            "dir/a.toml:16:19: option \"position_layout\" of [model] is for sinusoidal positions, and "
            "positions = \"learned\"; remove it");
  EXPECT_EQ(with("positions = \"none\""), "");
  EXPECT_EQ(
      with("positions = \"none\"\nmax_positions = 300")
          .find(
              "dir/a.toml:16:17: option \"max_positions\" of [model] is 300, which is for learned positions"),
      0U);
  EXPECT_EQ(with("segments = 1025"),
            "dir/a.toml:15:12: option \"segments\" of [model] must be at least 0 and at most 1024, found the "
            "integer 1025");
  EXPECT_EQ(
      with("embedding_scale = \"width\""),
      "dir/a.toml:15:19: option \"embedding_scale\" of [model] must be \"sqrt_width\" or \"none\", found "
      "text \"width\"; did you mean \"sqrt_width\"?");
}

TEST(Resolve, RefusesWhatTwoOptionsMakeWrong) {
  EXPECT_EQ(problem_with("width = 8", "width = 33"),
            "dir/a.toml:13:9: option \"width\" of [model] is 33; sinusoidal positions come in pairs and need "
            "an even width");
  EXPECT_EQ(problem_with("width = 8", "width = 33\npositions = \"learned\""), "");
  EXPECT_EQ(
      problem_with("layers = 2", "layers = 2\ngroups = 3"),
      "dir/a.toml:15:10: option \"groups\" of [model] is 3, but 2 layers cannot be cut into more groups than "
      "there are layers; 0 lets every block have its own parameters");
  EXPECT_EQ(problem_with("layers = 2", "layers = 2\ngroups = 2"), "");
  EXPECT_EQ(problem_with("layers = 2", "layers = 2\ngroups = -1"),
            "dir/a.toml:15:10: option \"groups\" of [model] must be at least 0 and at most 1000, found the "
            "integer -1");
  EXPECT_EQ(problem_with("epochs = 3", "epochs = 3\nbatch_size = 4\ngradient_shards = 5"),
            "dir/a.toml:33:19: option \"gradient_shards\" of [train] is 5, but a batch of 4 sequences cannot "
            "be cut into "
            "more parts than it has sequences");
}

TEST(Resolve, TakesAPowerOfTwoAsTheFactorOnTheLoss) {
  const auto problem = [](const std::string& value) {
    return problem_with("epochs = 3", "epochs = 3\nloss_scale = " + value);
  };
  for (const char* value : {"1", "1.0", "65536", "1.361129467683754e39"})
    EXPECT_EQ(problem(value), "") << value;
  EXPECT_EQ(problem("1000"),
            "dir/a.toml:32:14: option \"loss_scale\" of [train] is 1000; it must be a power of two, such as "
            "65536");
  for (const char* value : {"0", "0.5", "1e61", "inf", "nan"})
    EXPECT_NE(problem(value).find("\"loss_scale\" of [train]"), std::string::npos) << problem(value);
  EXPECT_EQ(problem_with("epochs = 3", "epochs = 3\nprecision = \"float16\""), "");
  Problems problems;
  const Resolved run =
      resolved(changed(sample::experiment, "epochs = 3", "epochs = 3\nprecision = \"float16\""), problems);
  EXPECT_EQ(run.config.at("train").at("loss_scale"), 65536.0);
  EXPECT_NE(problem_with("epochs = 3", "epochs = 3\nloss_scale_steps = 0").find("\"loss_scale_steps\""),
            std::string::npos);
}

TEST(Resolve, TakesOneLengthOfTrainingAndOneSizeOfBatches) {
  const auto in_train = [](const std::string& lines) { return problem_with("epochs = 3", lines); };
  EXPECT_EQ(in_train("steps = 3"), "");
  EXPECT_EQ(in_train("steps = 3\nbatch_tokens = 4096"), "");
  EXPECT_EQ(in_train("steps = 3\nbatch_tokens = 64\ngradient_shards = 40"), "")
      << "the number of examples in a batch is unknown";
  EXPECT_EQ(
      in_train("batch_size = 3"),
      "dir/a.toml:30:1: option \"epochs\" of [train] is missing, and so is \"steps\"; give one of them: "
      "epochs = 10 passes over the training data, or steps = 10000");
  EXPECT_EQ(in_train("epochs = 3\nsteps = 4"),
            "dir/a.toml:32:9: option \"steps\" of [train] stands beside \"epochs\", another end of training; "
            "keep one of them");
  EXPECT_EQ(
      in_train("epochs = 3\nbatch_size = 32\nbatch_tokens = 64"),
      "dir/a.toml:33:16: option \"batch_tokens\" of [train] stands beside \"batch_size\", another size of a "
      "batch; keep one of them");
  EXPECT_EQ(in_train("steps = 0"),
            "dir/a.toml:31:9: option \"steps\" of [train] must be at least 1 and at most 1e12, found the "
            "integer 0");
  EXPECT_EQ(
      in_train("epochs = 1\nbatch_tokens = 0"),
      "dir/a.toml:32:16: option \"batch_tokens\" of [train] must be at least 1 and at most 1e9, found the "
      "integer 0");
}

TEST(Resolve, RejectsSizesBeyondEveryMachine) {
  const auto refused = [](const std::string& option, const std::string& table, const std::string& range) {
    return "option \"" + option + "\" of [" + table + "] must be " + range + ", found the integer ";
  };
  const auto expect_at_most = [&](const std::string& from, const std::string& option,
                                  const std::string& table, const std::string& least,
                                  const std::string& written, std::int64_t most) {
    const auto with = [&](const std::string& value) {
      return problem_with(from, (from.starts_with(option) ? "" : from + "\n") + option + " = " + value);
    };
    const std::string message = refused(option, table, "at least " + least + " and at most " + written);
    EXPECT_EQ(with(std::to_string(most)), "") << option;
    for (const std::string& value : {std::to_string(most + 1), std::string("4000000000000000000")})
      EXPECT_TRUE(with(value).ends_with(message + value)) << with(value);
  };
  expect_at_most("layers = 2", "layers", "model", "1", "1000", 1000);
  expect_at_most("width = 8", "width", "model", "1", "65536", 65536);
  expect_at_most("epochs = 3", "epochs", "train", "0", "1e6", 1000000);
  expect_at_most("epochs = 3", "batch_size", "train", "1", "1048576", 1048576);
  expect_at_most("epochs = 3", "patience", "train", "0", "1e6", 1000000);
  for (const char* option : {"evaluate_every", "checkpoint_every", "digest_steps"})
    expect_at_most("epochs = 3", option, "train", "0", "1e12", 1000000000000);
  const auto refuses = [&](const std::string& from, const std::string& added, const std::string& message) {
    const std::string found = problem_with(from, from + "\n" + added);
    EXPECT_NE(found.find(message), std::string::npos) << found;
  };
  refuses("epochs = 3", "batch_size = 1048576\ngradient_shards = 1048577",
          refused("gradient_shards", "train", "at least 1 and at most 1048576"));
  refuses("dev = \"dev.conll\"", "max_length = 1048577",
          refused("max_length", "data", "at least 3 and at most 1048576"));
  refuses("layers = 2", "groups = 1001", refused("groups", "model", "at least 0 and at most 1000"));
}

TEST(Resolve, DevelopmentDataIsAFileOrAShare) {
  const std::string dev = "dev = \"dev.conll\"", split = "split = [0.8, 0.1, 0.1]";
  EXPECT_EQ(problem_with(dev, split), "");
  EXPECT_EQ(problem_with(dev, "split = [0.75, 0.25]"), "");
  EXPECT_EQ(problem_with(dev, dev + "\nmore = \"m\"\nheld_out = 0.2"), "");
  EXPECT_EQ(
      problem_with(dev, dev + "\nheld_out = 0.2"),
      "dir/a.toml:10:12: option \"held_out\" of [data] is a share of the examples of \"more\", and there "
      "is no \"more\"; name files there, or remove held_out");
  EXPECT_EQ(problem_with(dev, "split = [0.333333, 0.333333, 0.333333]"), "") << "within the tolerance";
  const std::string missing =
      "dir/a.toml:5:1: option \"dev\" of [data] is missing; it must be a path in quotes (examples that "
      "choose the best checkpoint); or let split = [0.9, 0.1] cut this set from the examples of train";
  EXPECT_EQ(problem_with(dev, ""), missing);
  EXPECT_EQ(problem_with(dev, "dev = \"\""), missing);
  EXPECT_EQ(
      problem_with(dev, dev + "\n" + split),
      "dir/a.toml:9:7: option \"dev\" of [data] names a file, but split makes this set of the examples of "
      "train; keep one of them");
  EXPECT_EQ(problem_with(dev, "test = \"t\"\n" + split),
            "dir/a.toml:9:8: option \"test\" of [data] names a file, but the third share of split makes this "
            "set of the "
            "examples of train; give two shares, or drop the file with test = \"\"");
  EXPECT_EQ(problem_with(dev, "test = \"t\"\nsplit = [0.9, 0.1]"), "");
  EXPECT_EQ(problem_with(dev, "test = \"\"\n" + split), "");
  EXPECT_EQ(problem_with(dev, split + "\nstratify = true"), "");
  EXPECT_EQ(problem_with(dev, dev + "\nstratify = true"),
            "dir/a.toml:10:12: option \"stratify\" of [data] is about the sets that \"split\" makes, and "
            "there is no "
            "\"split\"; add split = [0.9, 0.1], or remove stratify");
  const std::string must = "dir/a.toml:9:9: option \"split\" of [data] must ",
                    be = must + "be the shares of two or three sets, as in [0.9, 0.1] or [0.8, 0.1, 0.1]; ";
  EXPECT_EQ(problem_with(dev, "split = [0.8, 0.1]"), be + "their sum is 0.9 and must be 1");
  EXPECT_EQ(problem_with(dev, "split = [0.4, 0.2, 0.2, 0.2]"), be + "found 4");
  EXPECT_EQ(problem_with(dev, "split = []"), be + "found 0");
  EXPECT_EQ(problem_with(dev, "split = [1.1, -0.1]"),
            must + "have numbers above 0 and below 1, found [1.1, -0.1]");
  EXPECT_EQ(problem_with(dev, "split = [0.9, 0.1, 0]"),
            must + "have numbers above 0 and below 1, found [0.9, 0.1, 0]");
  EXPECT_EQ(problem_with(dev, "split = [0.9, \"rest\"]"),
            must + "be a list of numbers, found text \"rest\" in the list");
  EXPECT_EQ(problem_with(dev, "split = 0.9"), must + "be a list of numbers, found the number 0.9");
}

TEST(Resolve, ASetMayHaveSeveralFiles) {
  Problems problems;
  const Resolved run =
      resolved(changed(sample::experiment, "\"train.conll\"", "[\"a.conll\", \"/b.conll\"]"), problems);
  EXPECT_TRUE(problems.empty());
  const nlohmann::json train = run.config["data"]["train"];
  ASSERT_EQ(train.size(), 2U);
  EXPECT_TRUE(train[0].get<std::string>().ends_with("/dir/corpus/a.conll")) << train;
  EXPECT_EQ(train[1], "/b.conll");
  const Resolved one = resolved(changed(sample::experiment, "\"train.conll\"", "[\"/b.conll\"]"), problems);
  EXPECT_EQ(one.config["data"]["train"], "/b.conll") << "one file, whether in a list or not";
  const std::string must = "dir/a.toml:8:9: option \"train\" of [data] ";
  EXPECT_EQ(problem_with("\"train.conll\"", "[]"), must + "is an empty list: expected at least one file");
  EXPECT_EQ(problem_with("\"train.conll\"", "[\"a\", \"\"]"), must + "has an empty path in its list");
  EXPECT_EQ(problem_with("\"train.conll\"", "[\"a\", 3]"),
            must + "must be a path in quotes, or a list of them, found the integer 3 in the list");
  EXPECT_EQ(problem_with("\"train.conll\"", "\"\""), must + "must be a path in quotes, found an empty one");
}

TEST(Resolve, TheLongestSequenceMayBeAPercentage) {
  const std::string dev = "dev = \"dev.conll\"";
  const auto with = [&](const std::string& value) {
    return problem_with(dev, dev + "\nmax_length = " + value);
  };
  for (const char* value : {"\"95%\"", "\"99.5%\"", "\"100%\"", "3"}) EXPECT_EQ(with(value), "") << value;
  const std::string must = "dir/a.toml:10:14: option \"max_length\" of [data] must be ";
  for (const char* value : {"0%", "101%", "-5%", "abc", "95", "%", "nan%", "1e1%", "95 %"})
    EXPECT_EQ(with("\"" + std::string(value) + "\""),
              must + "an integer, or a percentage above 0 and at most 100 such as \"95%\", found text \"" +
                  value + "\"");
  EXPECT_EQ(with("0.95"),
            must + "an integer, or a percentage in quotes such as \"95%\", found the number 0.95");
  EXPECT_EQ(with("2"), must + "at least 3 and at most 1048576, found the integer 2");
  Problems problems;
  EXPECT_EQ(resolved(changed(sample::experiment, dev, dev + "\nmax_length = \"95.0%\""), problems)
                .config["data"]["max_length"],
            "95%")
      << "both spellings are stored alike";
}

TEST(Resolve, RefusesValuesOutOfRange) {
  EXPECT_EQ(
      problem_with("layers = 2", "layers = 2\ndropout = 1.0"),
      "dir/a.toml:15:11: option \"dropout\" of [model] must be at least 0 and below 1, found the number 1.0");
}

TEST(Resolve, RefusesTasksAndReadersThatNoPluginOffers) {
  EXPECT_EQ(problem_with("\"ner\"", "\"nerr\""),
            "dir/a.toml:4:8: no plugin offers a task \"nerr\"; did you mean \"ner\"? (searched: no folder)");
  EXPECT_EQ(problem_with("\"conll\"", "\"conl\""),
            "dir/a.toml:6:8: no plugin offers a reader \"conl\"; did you mean \"conll\"? (searched: no "
            "folder)");
  EXPECT_EQ(problem_with("type = \"conll\"\n", ""),
            "dir/a.toml:5:1: table [data] must name a reader as its type: \"conll\", \"tsv\"");
  EXPECT_EQ(
      problem_with("[task]\ntype = \"ner\"\n", ""),
      "dir/a.toml:1:1: table [task] is missing; it must name a task as its type: \"classify\", \"ner\"");
}

/// The sample with the task `classify` and the reader `tsv`, for examples with one label.
const std::string classification =
    changed(changed(sample::experiment, "\"ner\"", "\"classify\""), "\"conll\"", "\"tsv\"");

TEST(Resolve, ATaskAndAReaderAddOptionsToTheirTables) {
  Problems problems;
  std::string text = changed(classification, "\"classify\"", "\"classify\"\ntop = 3");
  text = changed(text, "dev = \"dev.conll\"", "dev = \"dev.conll\"\nnames = \"labels.txt\"");
  const Resolved run = resolved(text, problems);
  ASSERT_TRUE(problems.empty()) << resolve_problems(text);
  EXPECT_EQ(run.config["task"], (nlohmann::json{{"type", "classify"}, {"top", 3}}));
  EXPECT_EQ(run.config["data"]["separator"], "tab");
  EXPECT_EQ(run.config["data"]["names"], std::filesystem::current_path().string() + "/dir/corpus/labels.txt")
      << "as the paths of the shipped readers start from the root";
  EXPECT_EQ(run.config["data"]["max_length"], 256);
  EXPECT_EQ(run.config["train"]["select"], "max dev/accuracy") << "the task's own";
  EXPECT_EQ(run.origin.at("data.separator").source, Source::fallback);

  EXPECT_EQ(resolve_problems(changed(classification, "dev = ", "seperator = \"comma\"\ndev = ")),
            "dir/a.toml:9:1: unknown option \"seperator\" of [data]; did you mean \"separator\"?");
  EXPECT_EQ(resolve_problems(changed(classification, "epochs = 3", "epochs = 3\nseparator = \"comma\"")),
            "dir/a.toml:32:1: unknown option \"separator\" of [train]; it is an option of [data]");
  EXPECT_EQ(problem_with("\"ner\"", "\"ner\"\ntop = 3"),
            "dir/a.toml:5:1: unknown option \"top\" of task \"ner\"; it is an option of task \"classify\"");
}

TEST(Resolve, AReaderMustGiveWhatTheTaskReads) {
  EXPECT_EQ(problem_with("\"conll\"", "\"tsv\""),
            "dir/a.toml:6:8: reader \"tsv\" does not give the fields \"words\", \"tags\" that task \"ner\" "
            "needs; it gives \"text\", \"label\"; readers that give all of them: \"conll\"");
  Manifest manifest = sample::catalogue().manifests().front();
  ManifestOffer* reader = nullptr;
  for (ManifestOffer& offer : manifest.offers)
    if (offer.name == "conll") reader = &offer;
  reader->gives = {"words"};
  Catalogue catalogue;
  catalogue.add(manifest);
  Problems problems;
  resolve(parse_experiment_file(sample::experiment, "dir/a.toml").root, catalogue, problems);
  ASSERT_EQ(problems.all().size(), 1U);
  EXPECT_EQ(
      problems.all()[0].text(),
      "dir/a.toml:6:8: reader \"conll\" does not give the field \"tags\" that task \"ner\" needs; it gives "
      "\"words\"; no available reader gives all of them");

  // An option that would add the field is named.
  reader->gives = {"text"};
  reader->options.text("tag_comment", "", {.help = "beginning of a line with a tag"})
      .choice("kind", "a", {"a", "b"}, {.help = "form of the file"});
  reader->may_give = {{"words", "kind", "b"}, {"tags", "tag_comment"}, {"spans", "kind", "b"}};
  Catalogue with_options;
  with_options.add(manifest);
  const auto problems_of = [&](const std::string& text) {
    Problems found;
    resolve(parse_experiment_file(text, "dir/a.toml").root, with_options, found);
    return found.all().empty() ? "" : found.all()[0].text();
  };
  EXPECT_EQ(problems_of(sample::experiment),
            "dir/a.toml:6:8: reader \"conll\" does not give the fields \"words\", \"tags\" that task \"ner\" "
            "needs; it gives \"text\"; data.kind = \"b\" adds \"words\"; data.tag_comment adds \"tags\"");
  EXPECT_EQ(problems_of(changed(sample::experiment, "type = \"conll\"",
                                "type = \"conll\"\nkind = \"b\"\ntag_comment = \"#\"")),
            "");

  // A run that reads no data needs no option of the reader.
  Problems untrained;
  resolve(parse_experiment_file(changed(sample::experiment, "epochs = 3", "epochs = 0"), "dir/a.toml").root,
          with_options, untrained);
  EXPECT_FALSE(untrained.all().empty()) << "it has no model of a folder";
  for (const Problem& problem : untrained.all())
    EXPECT_EQ(problem.text().find("does not give"), std::string::npos) << problem.text();
}

TEST(Resolve, SelectsByAMeasureOfTheTask) {
  const auto with = [](const std::string& select) {
    return problem_with("epochs = 3", "epochs = 3\nselect = \"" + select + "\"");
  };
  for (const char* good : {"max dev/f1", "max dev/token_accuracy", "min dev/loss"})
    EXPECT_EQ(with(good), "") << good;
  EXPECT_EQ(with("max dev/f1/PER"), "") << "only the data can say whether there is one";
  const std::string option = "dir/a.toml:32:10: option \"select\" of [train] ",
                    all =
                        "\"max dev/f1\", \"max dev/f1_macro\", \"max dev/precision\", \"max dev/recall\", "
                        "\"max dev/token_accuracy\", \"min dev/loss\"";
  EXPECT_EQ(with("min dev/f1"),
            option + "is \"min dev/f1\", but a higher f1 is the better one; write \"max dev/f1\"");
  EXPECT_EQ(with("max dev/loss"),
            option + "is \"max dev/loss\", but a lower loss is the better one; write \"min dev/loss\"");
  EXPECT_EQ(
      with("min dev/f1/PER"),
      option + "is \"min dev/f1/PER\", but a higher f1/PER is the better one; write \"max dev/f1/PER\"");
  EXPECT_EQ(with("dev/f1"), option +
                                "must be \"max dev/MEASURE\" or \"min dev/MEASURE\", found text \"dev/f1\"; "
                                "did you mean \"max dev/f1\"?");
  EXPECT_EQ(with("best"), option +
                              "must be \"max dev/MEASURE\" or \"min dev/MEASURE\", found text \"best\"; with "
                              "task \"ner\" it may be " +
                              all);
  for (const char* formless : {"", "max ", "max dev/", "max test/zzzzzz", "max  dev/f1"})
    EXPECT_TRUE(with(formless).starts_with(option + "must be \"max dev/MEASURE\"")) << with(formless);
  EXPECT_EQ(with("max dev/acuracy"),
            option +
                "names the measure \"acuracy\", which task \"ner\" does not have; did "
                "you mean \"token_accuracy\"?");
  EXPECT_EQ(with("max dev/bleu"),
            option +
                "names the measure \"bleu\", which task \"ner\" does not have; it has \"f1\", \"f1_macro\", "
                "\"precision\", \"recall\", \"token_accuracy\", \"f1/{label}\", \"precision/{label}\", "
                "\"recall/{label}\", \"loss\"");
  EXPECT_EQ(with("max dev/f1/{label}"),
            option +
                "names \"f1/{label}\", which stands for many measures; write the name "
                "of one in place of {label}");
  EXPECT_EQ(with("max dev/f1/"),
            option +
                "names the measure \"f1/\", which task \"ner\" does not have; did you mean "
                "\"f1\"?");
  EXPECT_EQ(
      resolve_problems(changed(classification, "epochs = 3", "epochs = 3\nselect = \"max dev/bleu\"")),
      option +
          "names the measure \"bleu\", which task \"classify\" does not have; it has \"accuracy\", \"loss\"");
  EXPECT_EQ(
      resolve_problems(changed(classification, "epochs = 3", "epochs = 3\nselect = \"max dev/confusion\"")),
      option +
          "names the measure \"confusion\", which is not a number; with task \"classify\" it may be \"max "
          "dev/accuracy\", \"min dev/loss\"");
  EXPECT_EQ(problem_with("epochs = 3", "epochs = 3\nselect = 3"),
            option + "must be text in quotes, found the integer 3");
}

TEST(Resolve, ReportsAllProblemsOfAFile) {
  std::string text = changed(sample::experiment, "heads = 2", "heads = 0");
  text =
      changed(changed(text, "hidden = 16", "hiden = 16"), "learning_rate = 5e-4", "learning_rate = \"fast\"");
  Problems problems;
  resolved(text, problems);
  EXPECT_EQ(problems.all().size(), 4U) << "heads, hiden, hidden missing, learning_rate";
}

}  // namespace
}  // namespace encore::config
