// SPDX-License-Identifier: BSD-3-Clause
// Tests make_experiment() (config/experiment.hpp): the worker turns the resolved JSON of specification.json
// into typed tables. Stored specifications of earlier versions must stay readable: an option that was added
// since takes its default. A value that does not fit is rejected with its key.
#include "config/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/experiment_file.hpp"
#include "config/resolve.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::config {
namespace {

using nlohmann::json;

/// Returns the resolved experiment as a worker reads it: through the text of JSON.
json config(const std::string& text = sample::experiment) {
  Problems problems;
  Resolved run = resolve(parse_experiment_file(text, "a.toml").root, sample::catalogue(), problems);
  problems.require_none();
  return json::parse(run.config.dump());  // as specification.json stores it
}

std::string experiment_problem(const json& config) {
  try {
    make_experiment(config, sample::catalogue());
  } catch (const ConfigError& error) {
    return error.key() + ": " + error.what();
  }
  return "no problem";
}

TEST(Experiment, HasEveryTableWithItsTypes) {
  const Experiment run = make_experiment(config(), sample::catalogue());
  EXPECT_EQ(run.task.type, "ner");
  EXPECT_EQ(run.task.key, "task");
  EXPECT_EQ(run.data.reader.type, "conll");
  EXPECT_TRUE(run.data.reader.options.values().empty()) << "root and the files are not options of the reader";
  ASSERT_EQ(run.data.train.size(), 1U);
  EXPECT_TRUE(run.data.train.front().ends_with("/corpus/train.conll"));
  EXPECT_TRUE(run.data.test.empty());
  EXPECT_TRUE(run.data.split.empty());
  EXPECT_EQ(run.data.max_length_percent, 0.0);
  EXPECT_EQ(run.tokenizer.type, "wordpiece");
  EXPECT_EQ(run.model.width, 8);
  EXPECT_EQ(run.model.groups, 0);
  EXPECT_EQ(run.model.dropout, 0.1);
  EXPECT_EQ(run.model.positions, Positions::sinusoidal);
  EXPECT_EQ(run.model.max_positions, 0);
  EXPECT_EQ(run.model.segments, 0);
  EXPECT_EQ(run.model.embedding_scale, EmbeddingScale::sqrt_width);
  EXPECT_FALSE(run.model.embedding_norm);
  EXPECT_EQ(run.model.embedding_width, 0);
  EXPECT_EQ(run.model.table_width(), 8);
  EXPECT_EQ(run.model.norm_position, NormPosition::post);
  EXPECT_EQ(run.model.final_norm, std::nullopt);
  EXPECT_FALSE(run.model.ends_with_norm());
  ASSERT_EQ(run.model.block.size(), 2U);
  EXPECT_EQ(run.model.block[0].name, "attention");
  EXPECT_EQ(run.model.block[0].key, "model.layer.attention");
  EXPECT_EQ(run.model.block[0].type, "self_attention");
  EXPECT_EQ(run.model.block[0].version, 2);
  EXPECT_EQ(run.model.block[0].options.integer("heads"), 2);
  EXPECT_EQ(run.model.norm.type, "layer_norm");
  EXPECT_EQ(run.model.norm.options.number("epsilon"), 1e-5);
  EXPECT_FALSE(run.model.head.options.flag("residual_norm"));
  EXPECT_EQ(run.optimizer.options.number("learning_rate"), 5e-4);
  EXPECT_EQ(run.schedule.options.integer("warmup_steps"), 20);
  EXPECT_EQ(run.train.precision, Precision::float32);
  EXPECT_TRUE(run.train.select.maximize);
  EXPECT_EQ(run.train.select.metric, "dev/f1");
}

TEST(Experiment, ReadsTheOtherChoices) {
  json in = config();
  in["model"]["positions"] = "learned";
  in["model"]["max_positions"] = 512;
  in["model"]["segments"] = 2;
  in["model"]["embedding_scale"] = "none";
  in["model"]["embedding_norm"] = true;
  in["model"]["embedding_width"] = 4;
  in["model"]["norm_position"] = "pre";
  in["model"]["groups"] = 2;
  in["train"]["select"] = "min dev/loss";
  in["train"]["precision"] = "float64";
  in["train"]["batching"] = "padded";
  in["data"]["test"] = "/test.conll";
  const Experiment run = make_experiment(in, sample::catalogue());
  EXPECT_EQ(run.model.positions, Positions::learned);
  EXPECT_EQ(run.model.max_positions, 512);
  EXPECT_EQ(run.model.segments, 2);
  EXPECT_EQ(run.model.embedding_scale, EmbeddingScale::none);
  EXPECT_TRUE(run.model.embedding_norm);
  EXPECT_EQ(run.model.embedding_width, 4);
  EXPECT_EQ(run.model.table_width(), 4);
  EXPECT_EQ(run.model.norm_position, NormPosition::pre);
  EXPECT_TRUE(run.model.ends_with_norm());
  in["model"]["final_norm"] = false;
  EXPECT_FALSE(make_experiment(in, sample::catalogue()).model.ends_with_norm());
  in["model"]["norm_position"] = "post";
  in["model"]["final_norm"] = true;
  EXPECT_TRUE(make_experiment(in, sample::catalogue()).model.ends_with_norm());
  EXPECT_EQ(run.model.groups, 2);
  EXPECT_FALSE(run.train.select.maximize);
  EXPECT_EQ(run.train.select.metric, "dev/loss");
  EXPECT_EQ(run.train.precision, Precision::float64);
  EXPECT_EQ(run.train.batching, Batching::padded);
  EXPECT_EQ(run.data.test, std::vector<std::string>{"/test.conll"});
}

TEST(Experiment, KeepsTheOptionsOfTaskAndReaderApartFromTheHosts) {
  json in = config();
  in["task"] = {{"type", "classify"}, {"top", 3}};
  in["data"]["type"] = "tsv";
  in["data"]["separator"] = "comma";
  in["train"]["select"] = "max dev/accuracy";
  const Experiment run = make_experiment(in, sample::catalogue());
  EXPECT_EQ(run.task.version, 2);
  EXPECT_EQ(run.task.options.integer("top"), 3);
  EXPECT_EQ(run.data.reader.key, "data");
  EXPECT_EQ(run.data.reader.options.text("separator"), "comma");
  EXPECT_FALSE(run.data.reader.options.has("train"));
  EXPECT_EQ(run.data.max_length, 256);
}

TEST(Experiment, AnOptionAddedSinceTakesItsDefault) {
  json in = config();
  in["train"].erase("digest_steps");
  in["model"].erase("groups");
  EXPECT_EQ(make_experiment(in, sample::catalogue()).model.groups, 0);
  EXPECT_EQ(make_experiment(in, sample::catalogue()).train.digest_steps, 10);
}

TEST(Experiment, RefusesWhatDoesNotFitAndNamesTheKey) {
  json in = config();
  in["model"]["layer"]["attention"]["heads"] = "two";
  EXPECT_EQ(experiment_problem(in),
            "model.layer.attention.heads: option \"heads\" of layer \"self_attention\" must be an integer, "
            "found text \"two\"");
  in = config();
  in["optimizer"]["momentum"] = 1;
  EXPECT_EQ(
      experiment_problem(in),
      "optimizer.momentum: unknown option \"momentum\" of optimizer \"adamw\"; it is an option of optimizer "
      "\"sgd\"");
  in = config();
  in.erase("train");
  EXPECT_EQ(experiment_problem(in), "train: table [train] is missing; it must have \"epochs\" or \"steps\"");
  in = config();
  in["model"]["head"]["type"] = "crf";
  EXPECT_EQ(experiment_problem(in).substr(0, 53), "model.head.type: no plugin offers a head \"crf\"; there");
  in = config();
  in["model"]["width"] = nullptr;
  EXPECT_EQ(experiment_problem(in), "model.width: a value of a resolved experiment cannot be null");
  in["model"]["width"] = std::uint64_t{1} << 63;
  EXPECT_EQ(experiment_problem(in),
            "model.width: expected an integer of at most 9223372036854775807, found 9223372036854775808");
  EXPECT_EQ(experiment_problem(json::array()), ": a resolved experiment must be an object, found []");
}

/// A written value counts as given even if it equals the default; without origins every value is given.
TEST(Experiment, KnowsWhichOptionsWereGiven) {
  Problems problems;
  const Catalogue catalogue = sample::catalogue();
  const Resolved run = resolve(parse_experiment_file(sample::experiment, "a.toml").root, catalogue, problems);
  problems.require_none();
  const Experiment experiment = make_experiment(run.config, catalogue, run.origin);
  EXPECT_TRUE(experiment.optimizer.options.given("learning_rate"));
  EXPECT_TRUE(experiment.optimizer.options.has("weight_decay"));
  EXPECT_FALSE(experiment.optimizer.options.given("weight_decay"));
  EXPECT_FALSE(experiment.model.norm.options.given("epsilon"));
  EXPECT_TRUE(experiment.model.block[0].options.given("heads"));
  EXPECT_TRUE(make_experiment(run.config, catalogue).optimizer.options.given("weight_decay"));
  const Origins stored = origins_from_json(origins_to_json(run.origin));
  EXPECT_FALSE(make_experiment(run.config, catalogue, stored).optimizer.options.given("weight_decay"));
}

TEST(Experiment, ReadsOptionsOfOneTable) {
  const Schema schema = Schema().integer("heads", 4, {.help = "heads", .min = 1});
  EXPECT_EQ(options_from_config({{"type", "x"}, {"heads", 2}}, schema, "model.layer.a").integer("heads"), 2);
  EXPECT_EQ(options_from_config(json::object(), schema, "model.layer.a").integer("heads"), 4);
  EXPECT_FALSE(options_from_config(json::object(), schema, "a").given("heads"));
  EXPECT_TRUE(options_from_config({{"heads", 4}}, schema, "a").given("heads"));
  const Origins origins = {{"a.heads", {Source::fallback, {}}}};
  EXPECT_FALSE(options_from_config({{"heads", 4}}, schema, "a", origins).given("heads"));
  EXPECT_THROW(options_from_config({{"heads", 0}}, schema, "model.layer.a"), ConfigError);
  EXPECT_THROW(options_from_config(3, schema, "model.layer.a"), ConfigError);
}

TEST(NeededTypes, AreNamedOnceEach) {
  Experiment experiment;
  experiment.task.type = "ner";
  experiment.data.reader.type = "conll";
  experiment.tokenizer.type = "wordpiece";
  experiment.model.norm.type = "layer_norm";
  experiment.model.block.resize(2);
  experiment.model.block[0].type = experiment.model.block[1].type = "self_attention";
  experiment.model.head.type = "linear";
  experiment.optimizer.type = "adam";
  experiment.schedule.type = "linear";
  const std::vector<TypeName> types = needed_types(experiment);
  EXPECT_EQ(types.size(), 8u);
  EXPECT_EQ(std::count(types.begin(), types.end(), TypeName{Kind::task, "ner"}), 1);
  EXPECT_EQ(std::count(types.begin(), types.end(), TypeName{Kind::reader, "conll"}), 1);
  EXPECT_EQ(std::count(types.begin(), types.end(), TypeName{Kind::layer, "self_attention"}), 1);
}

TEST(Experiment, DataMayBeListsSharesAndAPercentage) {
  nlohmann::json changed = config();
  changed["data"].erase("dev");
  changed["data"]["train"] = {"/a.conll", "/b.conll"};
  changed["data"]["split"] = {0.75, 0.25};
  changed["data"]["max_length"] = "97.5%";
  const DataTable data = make_experiment(changed, sample::catalogue()).data;
  EXPECT_EQ(data.train, (std::vector<std::string>{"/a.conll", "/b.conll"}));
  EXPECT_TRUE(data.dev.empty());
  EXPECT_EQ(data.split, (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(data.max_length, 0);
  EXPECT_EQ(data.max_length_percent, 97.5);
}

}  // namespace
}  // namespace encore::config
