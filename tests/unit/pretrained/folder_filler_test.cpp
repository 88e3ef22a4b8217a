// SPDX-License-Identifier: BSD-3-Clause
// Tests [model] from = "DIR" (FolderFiller, pretrained/folder_filler.hpp): the options that are filled in
// from a Hugging Face folder, those that must agree with it, and the resulting plan. The plan must equal the
// one of an experiment file that writes every option by hand.
#include "pretrained/folder_filler.hpp"

#include <gtest/gtest.h>

#include "config/experiment_file.hpp"
#include "plan/plan.hpp"
#include "unit/config/sample_catalogue.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using testing::TinyFolder;

/// Returns the catalogue of the sample experiment, with the layer and the tokenizer that ship.
config::Catalogue catalogue() {
  config::Manifest manifest;
  manifest.name = "shipped";
  manifest.version = "1.0.0";
  manifest.library = "shipped.so";
  manifest.file = "/plugins/shipped.json";
  const OptionRule share{.help = "a share", .min = 0.0, .max = 1.0, .exclusive_max = true};
  manifest.offers = sample::catalogue().manifests().front().offers;
  for (config::ManifestOffer& offer : manifest.offers) {
    if (offer.name == "self_attention")
      offer.options =
          Schema().integer("heads", 4, {.help = "heads", .min = 1}).number("attention_dropout", 0.0, share);
    if (offer.name == "wordpiece")
      offer.options = Schema()
                          .optional("vocab", OptionType::path, {.help = "one token a line"})
                          .optional("vocab_size", OptionType::integer, {.help = "trained"})
                          .boolean("lowercase", false, {.help = "lower the text"});
  }
  config::Catalogue catalogue;
  catalogue.add(std::move(manifest));
  return catalogue;
}

/// Returns an experiment that leaves everything to the folder. `model` is added to [model], `more` after it.
std::string experiment(const TinyFolder& folder, const std::string& model = "",
                       const std::string& more = "") {
  return "name = \"tiny\"\n[task]\ntype = \"ner\"\n[data]\ntype = \"conll\"\ntrain = \"train.conll\"\n"
         "dev = \"dev.conll\"\nmax_length = 16\n[model]\nfrom = \"" +
         folder.path().string() + "\"\n" + model +
         "[model.head]\ntype = \"linear\"\n[optimizer]\ntype = \"adamw\"\nlearning_rate = 5e-5\n"
         "[schedule]\ntype = \"linear\"\n[train]\nepochs = 3\n" +
         more;
}

/// Replaces the hash of files: data files are known by their names alone, folders by their content.
std::string hash(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? sha256_of_content(path) : "hash of " + path.filename().string();
}

plan::Plan plan(const std::string& text, const std::vector<std::string>& overrides = {}) {
  static const config::Catalogue offers = catalogue();
  return plan::make_plan(config::parse_experiment_file(text, "a.toml", overrides), offers, hash);
}

std::string filling_problem(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return testing::message_of<config::ConfigErrors>([&] { plan(text, overrides); });
}

TEST(FolderFiller, MakesThePlanOfAFileWithEveryOptionWrittenByHand) {
  const TinyFolder folder;
  const plan::RunPoint point = plan(experiment(folder)).points.at(0);
  const nlohmann::json& model = point.config.at("model");
  EXPECT_EQ(model.at("width"), 8);
  EXPECT_EQ(model.at("segments"), 2);
  EXPECT_EQ(model.at("embedding_norm"), true);
  EXPECT_EQ(model.at("dropout"), 0.1);
  EXPECT_EQ(model.at("layer").at("attention"),
            nlohmann::json({{"type", "self_attention"}, {"heads", 4}, {"attention_dropout", 0.2}}));
  EXPECT_EQ(model.at("layer").at("norm"), nlohmann::json({{"type", "layer_norm"}, {"epsilon", 1e-12}}));
  EXPECT_EQ(point.config.at("tokenizer"),
            nlohmann::json(
                {{"type", "wordpiece"}, {"lowercase", true}, {"vocab", (folder / "vocab.txt").string()}}));
  EXPECT_EQ(point.origin.at("model.width").place.text(), (folder / "config.json").string());
  EXPECT_EQ(point.origin.at("model.width").source, config::Source::file);
  EXPECT_EQ(point.data.at("model.from").path, folder.path().string());
  EXPECT_EQ(point.data.at("model.from").sha256, sha256_of_content(folder.path()));
  EXPECT_EQ(point.data.at("vocab").path, (folder / "vocab.txt").string());
}

TEST(FolderFiller, TheQuestionCountsTheContentAndNotThePlaceOfTheFolder) {
  const TinyFolder a, b;
  const std::string question = plan(experiment(a)).points.at(0).question;
  EXPECT_EQ(plan(experiment(b)).points.at(0).question, question);
  EXPECT_EQ(plan(experiment(b, "width = 8\nnorm_position = \"post\"\n")).points.at(0).question, question);
  b.set("some_member", "that is not read");
  EXPECT_NE(plan(experiment(b)).points.at(0).question, question);
}

TEST(FolderFiller, ShareOfDropoutMayDiffer) {
  const TinyFolder folder;
  const std::string text =
      experiment(folder, "dropout = 0.3\n[model.layer.attention]\nattention_dropout = 0\n");
  const nlohmann::json model = plan(text).points.at(0).config.at("model");
  EXPECT_EQ(model.at("dropout"), 0.3);
  EXPECT_EQ(model.at("layer").at("attention").at("attention_dropout"), 0.0);
  EXPECT_EQ(model.at("layer").at("attention").at("heads"), 4);
}

TEST(FolderFiller, NamesBothPlacesWhereTheArchitectureDiffers) {
  const TinyFolder folder;
  const std::string config = (folder / "config.json").string();
  EXPECT_EQ(filling_problem(experiment(folder, "width = 256\n")),
            "a.toml:11:9: model.width = 256, but " + config + " says hidden_size = 8; leave it out");
  EXPECT_EQ(filling_problem(experiment(folder, "positions = \"sinusoidal\"\n")),
            "a.toml:11:13: model.positions = \"sinusoidal\", but " + config +
                " says model_type = \"bert\", which means model.positions = \"learned\"; leave it out");
  EXPECT_EQ(filling_problem(experiment(folder, "groups = 1\n")),
            "a.toml:11:10: model.groups = 1, but " + config +
                " says model_type = \"bert\", which means model.groups = 0; leave it out");
  EXPECT_EQ(filling_problem(experiment(folder, "[model.layer.feed_forward]\nactivation = \"relu\"\n")),
            "a.toml:12:14: model.layer.feed_forward.activation = \"relu\", but " + config +
                " says hidden_act = \"gelu\"; leave it out");
  EXPECT_EQ(
      filling_problem(experiment(folder), {"model.layers=3"}),
      "-S model.layers=3: model.layers = 3, but " + config + " says num_hidden_layers = 2; leave it out");
  EXPECT_EQ(
      filling_problem(experiment(folder, "block = [\"attention\"]\n")),
      "a.toml:11:9: model.block = [\"attention\"], but " + config +
          " says model_type = \"bert\", which means model.block = [\"attention\", \"feed_forward\"]; leave "
          "it out");
}

TEST(FolderFiller, ComparesTheTokenizer) {
  const TinyFolder folder;
  const std::string config = (folder / "config.json").string();
  const std::string other_type =
      filling_problem(experiment(folder, "", "[tokenizer]\ntype = \"byte_bpe\"\n"));
  EXPECT_TRUE(
      other_type.starts_with("a.toml:21:8: tokenizer.type = \"byte_bpe\", but " + config +
                             " says model_type = \"bert\", which means tokenizer.type = \"wordpiece\"; "
                             "leave it out"))
      << other_type;
  folder.write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(filling_problem(experiment(folder, "", "[tokenizer]\nlowercase = false\n")),
            "a.toml:21:13: tokenizer.lowercase = false, but " + (folder / "tokenizer_config.json").string() +
                " says do_lower_case = true; leave it out");
  EXPECT_EQ(filling_problem(experiment(folder, "", "[tokenizer]\nvocab_size = 4000\n")),
            "a.toml:21:14: tokenizer.vocab_size is for a vocabulary that is trained, but model.from brings " +
                (folder / "vocab.txt").string() + "; leave it out");
  const testing::TemporaryFolder other;
  testing::write_bytes(other / "pieces.txt", testing::read_bytes(folder / "vocab.txt"));
  const std::string text =
      experiment(folder, "", "[tokenizer]\nvocab = \"" + (other / "pieces.txt").string() + "\"\n");
  EXPECT_EQ(filling_problem(text), "no error");
  testing::write_bytes(other / "pieces.txt", "[UNK]\n");
  EXPECT_EQ(filling_problem(text), "a.toml:21:9: tokenizer.vocab names " + (other / "pieces.txt").string() +
                                       ", but the tokens that model.from was trained with are in " +
                                       (folder / "vocab.txt").string() + "; leave it out");
}

TEST(FolderFiller, AFolderThatCannotBeUsedIsTheOnlyProblem) {
  const TinyFolder folder;
  folder.remove("config.json");
  EXPECT_EQ(
      filling_problem(experiment(folder)),
      "a.toml:10:8: option \"from\" of [model]: " + folder.path().string() +
          " has no config.json; a Hugging Face folder holds config.json, model.safetensors and vocab.txt");
  EXPECT_EQ(filling_problem(experiment(folder), {"model.from="}).substr(0, 40),
            "-S model.from=: option \"from\" of [model]");
}

TEST(FolderFiller, KnowsNoDecoder) {
  const TinyFolder folder;
  const std::string text =
      experiment(folder, "", "[model.decoder]\nlayers = 1\nblock = [\"feed_forward\"]\n");
  EXPECT_EQ(filling_problem(text).substr(0, 76),
            "a.toml:20:1: [model.decoder] cannot stand beside model.from: " +
                (folder / "config.json").string().substr(0, 15));
}

TEST(FolderFiller, ASweepMayVaryTheFolder) {
  const TinyFolder a, b;
  b.set("num_hidden_layers", 3);
  const plan::Plan both = plan(experiment(
      a, "",
      "[sweep.grid]\n\"model.from\" = [\"" + a.path().string() + "\", \"" + b.path().string() + "\"]\n"));
  ASSERT_EQ(both.points.size(), 2U);
  EXPECT_EQ(both.points[0].config.at("model").at("layers"), 2);
  EXPECT_EQ(both.points[1].config.at("model").at("layers"), 3);
}

TEST(FolderFiller, SequencesFitIntoTheTableOfPositions) {
  const TinyFolder folder;
  const std::string found = filling_problem(experiment(folder), {"data.max_length=64"});
  EXPECT_NE(found.find("option \"max_positions\" of [model] is 32, but sequences have up to 64 tokens "
                       "(data.max_length); shorten them: the table of model.from"),
            std::string::npos)
      << found;
}

}  // namespace
}  // namespace encore::pretrained
