// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "translate" with the reader "parallel" (plugins/tasks/translate/translate.cpp,
// plugins/readers/parallel.cpp) and the real worker, from two files to a run and its translations, its export
// as a BART, and what is rejected before anything starts. Expected translations are those of the corpus, so a
// model must learn it by heart; its settings may change.
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "support/translating_experiment.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

/// Returns an experiment that translates. `task`: more lines of [task]; `train`: more lines of [train].
std::string experiment(const std::string& task, const std::string& train) {
  return testing::translating_experiment({.task = task, .train = "epochs = 20\n" + train});
}

const std::string only_tokens = "decode = false\n", by_tokens = "select = \"min dev/perplexity\"";

class Translation : public RealWorkerTest {
 protected:
  Translation() { write_translated_days(sandbox_); }
};

TEST_F(Translation, LearnsFromTwoFiles) {
  sandbox_.write("days.toml", experiment(only_tokens, by_tokens));
  const std::string run = output_of({"run", "days.toml"});
  EXPECT_TRUE(contains(run, "60 train, 15 dev") && contains(run, "dev perplexity ")) << run;
  EXPECT_FALSE(contains(run, "BLEU")) << "nothing is written";
  EXPECT_LT(std::stod(sandbox_.one("SELECT min(value) FROM curve WHERE metric = 'dev/perplexity'")), 2.0);
  const runner::ProgramOutput predicted = sandbox_.exp({"predict", "days", "monday"});
  EXPECT_NE(predicted.end.exit_code, 0);
  EXPECT_TRUE(contains(predicted.errors, "the model was trained with task.decode = false"))
      << predicted.errors;
}

TEST_F(Translation, KeepsTheLowestLossWhereBleuIsUndefined) {
  sandbox_.write("short.en", "monday\nfriday\ntuesday\n");
  sandbox_.write("short.de", "Montag\nFreitag\nDienstag\n");
  sandbox_.write("days.toml", experiment("", ""));
  const std::vector<std::string> run = {"run", "days.toml",     "-S", "data.dev=[\"short.en\", \"short.de\"]",
                                        "-S",  "train.epochs=6"};
  const std::string notice =
      "dev/bleu is undefined on the development set, whose labels or references leave it nothing to count, "
      "so it "
      "cannot choose a checkpoint; the run keeps step ";
  for (const std::string& text : {output_of(run), output_of({"show", "days"}), output_of({"compare", "days"}),
                                  output_of({"report", "days", "--format", "json"})})
    EXPECT_TRUE(contains(text, notice)) << text;
  EXPECT_EQ(
      sandbox_.one("SELECT result ->> '$.best_step' FROM run"),
      sandbox_.one("SELECT step FROM curve WHERE metric = 'dev/loss' ORDER BY value, step DESC LIMIT 1"));
  EXPECT_EQ(nlohmann::json::parse(output_of({"show", "days", "--json"})).at("result").at("ties"), "loss");
  EXPECT_TRUE(contains(output_of({"verify", "days", "--scores"}), "equal"));
  // The characters of these words are enough.
  const std::string by_characters =
      output_of({"run", "days.toml", "-S", "data.dev=[\"short.en\", \"short.de\"]", "-S", "train.epochs=6",
                 "-S", "task.bleu_tokenizer=char", "--name", "characters"});
  EXPECT_FALSE(contains(by_characters, "undefined")) << by_characters;
}

TEST_F(Translation, IsNotExportedAsOnnx) {
  sandbox_.write("days.toml", experiment(only_tokens, by_tokens));
  output_of({"run", "days.toml", "-q", "-S", "train.epochs=1"});
  EXPECT_TRUE(contains(
      refusal_of({"export", "days", "--format", "onnx", "-o", "out"}),
      "a model with a decoder over a second text (model.decoder) writes pass by pass, which is more than one "
      "ONNX graph; export it with --format huggingface where there is a family for it, or serve it with exp "
      "serve"));
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "out"));
}

TEST_F(Translation, ShowsWhatEachTokenLooksAt) {
  sandbox_.write("days.toml", experiment(only_tokens, by_tokens));
  output_of({"run", "days.toml", "-q", "-S", "train.epochs=2"});
  const auto shown = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"attention", "days", "monday tuesday friday", "--json"});
    return nlohmann::json::parse(output_of(more));
  };
  const nlohmann::json own = shown({});
  EXPECT_EQ(own.at("forced"), false);
  const nlohmann::json forced = shown({"--target", "Montag Dienstag"});
  EXPECT_EQ(forced.at("forced"), true);
  EXPECT_EQ(forced.at("written"), "Montag Dienstag");
  const nlohmann::json& text = forced.at("texts").at(0);
  const std::size_t source = text.at("tokens").size(), target = text.at("target").size();
  EXPECT_EQ(target, 3U) << "the beginning and two words";
  ASSERT_EQ(text.at("layers").size(), 3U);
  const char* sides[3][2] = {{"tokens", "tokens"}, {"target", "target"}, {"target", "tokens"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& layer = text.at("layers")[i];
    EXPECT_EQ(layer.at("rows"), sides[i][0]) << layer.at("layer");
    EXPECT_EQ(layer.at("columns"), sides[i][1]) << layer.at("layer");
    const nlohmann::json& weights = layer.at("heads")[0].at("weights");
    EXPECT_EQ(weights.size(), sides[i][0] == std::string("target") ? target : source);
    EXPECT_EQ(weights[0].size(), sides[i][1] == std::string("target") ? target : source);
  }
  // What a token looks at depends on what stands before it, not on what follows.
  const nlohmann::json longer = shown({"--target", "Montag Dienstag Freitag"}).at("texts").at(0);
  for (std::size_t i = 0; i < target; ++i)
    EXPECT_EQ(longer.at("layers")[2].at("heads")[0].at("weights")[i],
              text.at("layers")[2].at("heads")[0].at("weights")[i]);
  const runner::ProgramOutput page = sandbox_.exp({"attention", "days", "monday", "--target", "Montag"});
  EXPECT_TRUE(contains(page.output, "6 maps of 3 layers")) << page.output << page.errors;
  const runner::ProgramOutput long_target =
      sandbox_.exp({"attention", "days", "monday", "--target",
                    "Montag Montag Montag Montag Montag Montag Montag Montag "
                    "Montag Montag Montag Montag"});
  EXPECT_EQ(long_target.end.exit_code, 2);
  EXPECT_TRUE(contains(long_target.errors,
                       "the target has 12 tokens, and data.max_length = 12 of the model "
                       "leaves room for 11; shorten it"))
      << long_target.errors;
}

TEST_F(Translation, WritesTranslationsAndScoresThem) {
  sandbox_.write("days.toml", experiment("", ""));
  const std::string run = output_of({"run", "days.toml", "-S", "train.epochs=40"});
  EXPECT_TRUE(contains(run, "dev BLEU ") && contains(run, "chrF ")) << run;
  const double best = std::stod(sandbox_.one("SELECT max(value) FROM curve WHERE metric = 'dev/bleu'"));
  EXPECT_GT(best, 0.6) << "of twenty words that each have one translation";

  const auto scores = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"evaluate", "days", "dev.en", "--with", "dev.de", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const nlohmann::json answer = nlohmann::json::parse(output_of(arguments));
    EXPECT_EQ(answer.at("files").size(), 2U);
    EXPECT_EQ(answer.at("files")[1].at("file"), "dev.de");
    EXPECT_NE(answer.at("files")[1].at("sha256"), answer.at("sha256")) << "of the first";
    return answer.at("measures");
  };
  EXPECT_NEAR(scores({}).at("bleu").get<double>(), best, 1e-12);
  EXPECT_NEAR(scores({"--beam", "1"}).at("bleu").get<double>(), best, 1e-12);
  EXPECT_GT(scores({"--beam", "4"}).at("bleu").get<double>(), 0.5);
  EXPECT_TRUE(
      contains(output_of({"evaluate", "days", "dev.en", "--with", "dev.de"}), " on dev.en, dev.de: 15 "));

  EXPECT_EQ(output_of({"predict", "days", "monday"}), "Montag\n");
  EXPECT_EQ(output_of({"generate", "days", "monday"}), "Montag\n") << "the task's own way";
  EXPECT_EQ(output_of({"generate", "days", "--beam", "3"}, "friday\ntuesday\n"), "Freitag\nDienstag\n");
  EXPECT_EQ(output_of({"predict", "days"}, "monday\n\n \t \nfriday\n"), "Montag\n\n\nFreitag\n")
      << "a blank line has an empty translation";
  EXPECT_EQ(output_of({"generate", "days", "--beam", "3"}, "friday\n \ntuesday\n"), "Freitag\n\nDienstag\n");
  const nlohmann::json answer = nlohmann::json::parse(output_of({"predict", "days", "--json", "friday"}));
  EXPECT_EQ(answer.at("translation"), "Freitag");
  EXPECT_LT(answer.at("score").get<double>(), 0.0);
  EXPECT_TRUE(contains(output_of({"verify", "days"}), "equal"));
}

TEST_F(Translation, RefusesToEvaluateHalfOfASet) {
  sandbox_.write("days.toml", experiment(only_tokens, by_tokens));
  output_of({"run", "days.toml", "-q", "-S", "train.epochs=1"});
  const runner::ProgramOutput half = sandbox_.exp({"evaluate", "days", "dev.en"});
  EXPECT_NE(half.end.exit_code, 0);
  EXPECT_TRUE(contains(half.errors, "this one has no partner")) << half.errors;
  const runner::ProgramOutput beam =
      sandbox_.exp({"evaluate", "days", "dev.en", "--with", "dev.de", "--beam", "2"});
  EXPECT_NE(beam.end.exit_code, 0);
  EXPECT_TRUE(contains(beam.errors, "measures no generated text")) << beam.errors;
  EXPECT_EQ(sandbox_.exp({"evaluate", "days", "dev.en", "--beam", "-1"}).end.exit_code, 2);
}

TEST_F(Translation, RefusesToSelectByOutputThatIsNotWritten) {
  EXPECT_TRUE(contains(refusal(experiment(only_tokens, "")),
                       "the development set has no measure \"dev/bleu\"; it has \"dev/perplexity\", "
                       "\"dev/accuracy\""))
      << refusal(experiment(only_tokens, ""));
}

TEST_F(Translation, RefusesFilesThatDoNotFit) {
  sandbox_.write("dev.de", days(60, 74, true));
  EXPECT_TRUE(
      contains(refusal(experiment("", "")),
               "dev.de has 14; line i of one belongs to line i of the other, so both need the same number"))
      << refusal(experiment("", ""));
  std::string lines = days(60, 74, true);
  lines.insert(lines.find('\n') + 1, "\n");
  sandbox_.write("dev.de", lines);
  EXPECT_TRUE(contains(refusal(experiment("", "")), "dev.de:2: this line is empty, but that of "))
      << refusal(experiment("", ""));
}

TEST_F(Translation, RefusesALayerThatReadsWhatIsNotWrittenYet) {
  std::string text = experiment("", "");
  const std::string cross = "layer.cross = { type = \"cross_attention\"";
  text.replace(text.find("\"attention\", \"cross\""), 11, "\"cross\"");
  text.replace(text.find("\"cross\", \"cross\""), 16, "\"cross\", \"plain\"");
  text.insert(text.find(cross), "layer.plain = { type = \"linear_attention\", heads = 2 }\n");
  const std::string said = refusal(text);
  EXPECT_TRUE(contains(
      said, "linear_attention sums over all tokens of a sequence, later ones too, which a causal stack "))
      << said;
}

TEST_F(Translation, RefusesAModelWithoutADecoder) {
  std::string text = experiment("", "");
  const std::string decoder =
                        "decoder = { layers = 1, block = [\"attention\", \"cross\", \"feed_forward\"] }\n",
                    cross = "layer.cross = { type = \"cross_attention\", heads = 2 }\n";
  text.erase(text.find(decoder), decoder.size());
  text.erase(text.find(cross), cross.size());
  EXPECT_TRUE(contains(refusal(text), "for which this model has no stack; add a [model.decoder]"))
      << refusal(text);
}

/// Returns an experiment whose model has the form of a BART, and its markers.
std::string bart_experiment() {
  std::string text = experiment("source_start = true\ntarget_start = \"end\"\ntarget_begins = true\n", "");
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("type = \"word\"\nvocab_size = 20", "type = \"byte_bpe\"\nvocab_size = 300");
  replace("norm_position = \"pre\"",
          "positions = \"learned\"\nembedding_norm = true\nembedding_scale = \"none\"");
  replace("hidden = 24", "hidden = 24, activation = \"gelu\"");
  return text;
}

TEST_F(Translation, LeavesAsABartAndComesBack) {
  sandbox_.write("days.toml", bart_experiment());
  output_of({"run", "days.toml", "-q"});
  const std::string exported = output_of({"export", "days", "-o", "folder"});
  EXPECT_TRUE(contains(exported, " as BartForConditionalGeneration with ")) << exported;
  const nlohmann::json config = nlohmann::json::parse(sandbox_.read("folder/config.json"));
  EXPECT_EQ(config.at("model_type"), "bart");
  EXPECT_EQ(config.at("decoder_start_token_id"), config.at("eos_token_id"));
  EXPECT_EQ(config.at("forced_bos_token_id"), config.at("bos_token_id"));
  EXPECT_EQ(config.at("max_position_embeddings"), 12);
  output_of({"import", "folder", "--name", "again", "--task", "translate", "-q"});
  const std::string sources = "monday tuesday\nfriday\n";
  const std::string answers = output_of({"predict", "days", "--format", "jsonl"}, sources);
  EXPECT_TRUE(contains(answers, "tag")) << answers;
  EXPECT_EQ(output_of({"predict", "again", "--format", "jsonl"}, sources), answers);
  EXPECT_EQ(
      output_of({"evaluate", "again", "dev.en", "--with", "dev.de", "--beam", "3", "--json"}).substr(0, 1),
      "{");
  const runner::ProgramOutput embeds =
      sandbox_.exp({"import", "folder", "--name", "other", "--task", "embed"});
  EXPECT_TRUE(contains(embeds.errors, "but task \"embed\" generates none")) << embeds.errors;
  const runner::ProgramOutput classes =
      sandbox_.exp({"plan", "days.toml", "-S", "task.type=classify", "-S", "model.from=folder"});
  EXPECT_EQ(classes.end.exit_code, 2);
  EXPECT_TRUE(contains(classes.errors,
                       "describes an encoder and a decoder that generates text, but task \"classify\" "
                       "generates none; tasks that do are \"summarize\", \"translate\""))
      << classes.errors;
  const runner::ProgramOutput unsaid = sandbox_.exp({"import", "folder", "--name", "other"});
  EXPECT_EQ(unsaid.end.exit_code, 2);
  EXPECT_TRUE(contains(unsaid.errors, "which several tasks can import; choose one")) << unsaid.errors;
}

TEST_F(Translation, RefusesToExportAnInvalidBart) {
  sandbox_.write("days.toml", bart_experiment());
  const auto refusal = [&](const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> line = {"run", "days.toml", "-q", "-S", "train.epochs=1", "-S", "name=" + name};
    for (const std::string& setting : settings) line.insert(line.end(), {"-S", setting});
    output_of(line);
    return sandbox_.exp({"export", name, "-o", "other"}).errors;
  };
  const std::tuple<const char*, std::vector<std::string>, const char*> cases[] = {
      {"unmarked", {"task.target_begins=false"}, "task.target_begins = false cannot be written as a BART"},
      {"other", {"model.layer.cross.heads=4"}, "model.layer.cross.heads = 4 cannot be written as a BART"},
      {"before", {"model.norm_position=pre"}, "model.norm_position = \"pre\" cannot be written as a BART"},
      {"bare", {"model.embedding_norm=false"}, "model.embedding_norm = false cannot be written as a BART"},
  };
  for (const auto& [name, settings, message] : cases) {
    const std::string said = refusal(name, settings);
    EXPECT_TRUE(contains(said, message)) << said;
  }
}

}  // namespace
}  // namespace encore::system_test
