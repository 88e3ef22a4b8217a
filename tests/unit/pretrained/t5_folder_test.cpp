// SPDX-License-Identifier: BSD-3-Clause
// Tests folders of T5 (t5_family, pretrained/family.hpp): names of tensors, the tokens of the table and how
// they are written, the family as which a model of Encore is written, and rejected folders. The table may
// have gaps (sentinel tokens) and unused rows after the tokens of the SentencePiece model. Names and numbers
// of tokens are those of `transformers` and must stay.
#include <gtest/gtest.h>

#include "data/vocabulary.hpp"
#include "pretrained/content_hash.hpp"
#include "pretrained/family.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "unit/pretrained/folder_problem.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;
using testing::sentencepiece_model_of;
using testing::TinyFolder;
using Lines = std::vector<std::string>;

const Lines own_tokens = {"<pad>", "</s>", "<unk>", "▁a", "b"};

/// The folder's table has nine rows: five tokens, two gaps (sentinel tokens) and two unused ones.
struct T5Folder : TinyFolder {
  explicit T5Folder(const std::string& other_tensor = "decoder.final_layer_norm.weight") {
    remove("vocab.txt");
    write("config.json", t5_config().dump(2));
    write("tokenizer_config.json", R"({"extra_ids": 2})");
    write("spiece.model", sentencepiece_model_of(own_tokens));
    const std::vector<float> values(9 * 8, 0.5F);
    const auto bytes = std::as_bytes(std::span(values));
    record::save_safetensors(
        path() / "model.safetensors",
        {{.name = "shared.weight", .dtype = DType::float32, .shape = {9, 8}, .bytes = bytes},
         {.name = other_tensor, .dtype = DType::float32, .shape = {9, 8}, .bytes = bytes}},
        {{"format", "pt"}});
  }
};

Lines names_of(const std::string& path, PretrainedHead head = PretrainedHead::language_model) {
  Lines names;
  for (const FamilyTensor& tensor : t5_family.tensors_of(path, head)) names.push_back(tensor.name);
  return names;
}

TEST(T5Names, OfBothStacks) {
  EXPECT_EQ(names_of("embedding.tokens"), Lines{"shared.weight"});
  EXPECT_EQ(names_of("encoder.3.attention.qkv.weight"),
            (Lines{"encoder.block.3.layer.0.SelfAttention.q.weight",
                   "encoder.block.3.layer.0.SelfAttention.k.weight",
                   "encoder.block.3.layer.0.SelfAttention.v.weight"}));
  EXPECT_EQ(names_of("encoder.0.attention.distances"),
            Lines{"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"});
  EXPECT_EQ(names_of("decoder.0.attention.norm.gain"), Lines{"decoder.block.0.layer.0.layer_norm.weight"});
  EXPECT_EQ(names_of("decoder.11.cross.kv.weight"),
            (Lines{"decoder.block.11.layer.1.EncDecAttention.k.weight",
                   "decoder.block.11.layer.1.EncDecAttention.v.weight"}));
  EXPECT_EQ(names_of("decoder.0.cross.out.weight"),
            Lines{"decoder.block.0.layer.1.EncDecAttention.o.weight"});
  EXPECT_EQ(names_of("encoder.0.feed_forward.up.weight"),
            Lines{"encoder.block.0.layer.1.DenseReluDense.wi.weight"});
  EXPECT_EQ(names_of("decoder.0.feed_forward.gate_up.weight"),
            (Lines{"decoder.block.0.layer.2.DenseReluDense.wi_0.weight",
                   "decoder.block.0.layer.2.DenseReluDense.wi_1.weight"}));
  EXPECT_EQ(names_of("decoder.0.feed_forward.norm.gain"), Lines{"decoder.block.0.layer.2.layer_norm.weight"});
  EXPECT_EQ(names_of("encoder.norm.gain"), Lines{"encoder.final_layer_norm.weight"});
  EXPECT_EQ(names_of("head.output.weight"), Lines{"lm_head.weight"});
  EXPECT_TRUE(names_of("head.output.weight", PretrainedHead::classes).empty());
  for (const char* path : {"head.bias", "encoder.", "encoder.x.attention.out.weight", "encoder.3",
                           "encoder.0.attention.qkv.bias", "encoder.0.cross.q.weight", "encoder.norm.bias",
                           "embedding.positions", "decoder.embedding.tokens", ""})
    EXPECT_TRUE(names_of(path).empty()) << path;
}

TEST(T5Names, OfTheTableAndOfUnusedTensors) {
  EXPECT_TRUE(t5_family.is_of_body("shared.weight"));
  EXPECT_TRUE(t5_family.is_of_body("decoder.block.0.layer.2.DenseReluDense.wo.weight"));
  for (const char* name : {"encoder.embed_tokens.weight", "lm_head.weight",
                           "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}) {
    EXPECT_TRUE(t5_family.is_buffer(name)) << name;
    EXPECT_FALSE(t5_family.is_of_body(name)) << name;
  }
  const FolderNames names(t5_family, {"encoder.embed_tokens.weight"});
  EXPECT_EQ(names.tensors_of("embedding.tokens", PretrainedHead::none).front().name,
            "encoder.embed_tokens.weight");
}

TEST(T5Folder, HasGapsAndUnusedRowsAfterItsTokens) {
  const T5Folder folder;
  const HuggingFaceFolder model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.architecture, "ForConditionalGeneration");
  EXPECT_EQ(model.tokenizer.type, "unigram");
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "spiece.model");
  EXPECT_TRUE(model.config.tied);
  const Lines lines = data::load_vocabulary(model.tokenizer.vocabulary);
  EXPECT_EQ(Lines(lines.begin(), lines.end() - 2), (Lines{"<pad>", "</s>", "<unk>", "▁a", "b", "<extra_id_1>",
                                                          "<extra_id_0>", "[unused0]", "[unused1]"}));
  EXPECT_EQ(data::sentencepiece_model(lines, "model"), sentencepiece_model_of(own_tokens));
  EXPECT_EQ(files_of_hugging_face_folder(folder.path()),
            (Lines{"config.json", "model.safetensors", "spiece.model", "tokenizer_config.json"}));
  folder.remove("tokenizer_config.json");  // 100 gaps, as in T5Tokenizer; only the last fits here
  EXPECT_EQ(data::load_vocabulary(folder / "spiece.model")[5], "<extra_id_99>");
  folder.remove("config.json");
  EXPECT_EQ(data::token_count(data::load_vocabulary(folder / "spiece.model")), own_tokens.size());
}

std::string settings_problem(const T5Folder& folder) {
  return testing::message_of<Error>([&] { settings_of(open_hugging_face_folder(folder.path())); });
}

constexpr const char* no_problem = "no error";  // the result of message_of for a call that throws nothing

TEST(T5Folder, NamesTheTokensThatInputsMayContain) {
  const T5Folder folder;
  const FolderSettings settings = settings_of(open_hugging_face_folder(folder.path()));
  const auto found = std::ranges::find_if(settings.options, [](const FolderSettings::Option& each) {
    return each.option.path.back() == "added_tokens";
  });
  ASSERT_NE(found, settings.options.end());
  EXPECT_EQ(config::to_text(found->option.value), "[special </s>, special <pad>, special <unk>]");
  folder.write("tokenizer_config.json", R"({"extra_ids": 2, "additional_special_tokens": ["<extra_id_0>"]})");
  EXPECT_EQ(settings_problem(folder),
            (folder / "tokenizer_config.json").string() +
                ": additional_special_tokens names 1 tokens <extra_id_...>, but extra_ids is 2; name all of "
                "them there, or leave additional_special_tokens out");
  folder.write("tokenizer_config.json",
               R"({"extra_ids": 2, "extra_special_tokens": ["<extra_id_0>", "<extra_id_1>"]})");
  EXPECT_EQ(settings_problem(folder), no_problem);
  folder.write("tokenizer_config.json",
               R"({"extra_ids": 2, "added_tokens_decoder": {"4": {"content": "b"}}})");
  EXPECT_EQ(settings_problem(folder),
            (folder / "tokenizer_config.json").string() +
                ": the token \"b\" is not special, which is not supported for a t5");
  folder.write("tokenizer_config.json", R"({"extra_ids": 2, "tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(settings_problem(folder),
            (folder / "tokenizer_config.json").string() +
                ": tokenizer_class is \"PreTrainedTokenizerFast\", which tokenizes in another way; supported "
                "for a t5 are \"T5Tokenizer\"");
}

TEST(T5Folder, HasTheSameModelInTokenizerJson) {
  const T5Folder folder;
  json vocab = json::array();
  for (const char* token : {"<pad>", "</s>", "<unk>", "▁a", "b", "<extra_id_1>", "<extra_id_0>"})
    vocab.push_back({token, 0.0});
  const auto problem_with = [&](const json& tokens, const json& normalizer) {
    folder.write(
        "tokenizer.json",
        json{{"normalizer", normalizer}, {"model", {{"type", "Unigram"}, {"vocab", tokens}}}}.dump());
    return settings_problem(folder);
  };
  EXPECT_EQ(problem_with(vocab, nullptr), no_problem);
  const std::string file = (folder / "tokenizer.json").string() + ": ";
  const std::string other = (folder / "spiece.model").string() + "; they belong to different models";
  json scored = vocab;
  scored[3][1] = -2.5;
  EXPECT_EQ(problem_with(scored, nullptr),
            file + "token 3 of model.vocab is [\"▁a\",-2.5], but not in " + other);
  json renamed = vocab;
  renamed[6][0] = "<extra_id_7>";
  EXPECT_EQ(problem_with(renamed, nullptr),
            file + "token 6 of model.vocab is [\"<extra_id_7>\",0.0], but not in " + other);
  EXPECT_EQ(problem_with(json::array(), nullptr),
            file + "model.vocab has no list of the 5 tokens of " + other);
  EXPECT_EQ(problem_with(vocab, {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}}),
            file + "the precompiled_charsmap of the normalizer is not that of " + other);
}

TEST(T5Folder, IsTiedAsItsTensorsSay) {
  const T5Folder folder("lm_head.weight");
  EXPECT_TRUE(open_hugging_face_folder(folder.path()).config.tied) << "the first T5, whose file has a copy";
  folder.set("scale_decoder_outputs", false);
  EXPECT_FALSE(open_hugging_face_folder(folder.path()).config.tied);
  const T5Folder without;
  without.set("scale_decoder_outputs", false);
  EXPECT_TRUE(open_hugging_face_folder(without.path()).config.tied);
}

TEST(T5Folder, ItsHashDependsOnTheFilesOfItsTokens) {
  const T5Folder folder;
  const std::string whole = sha256_of_content(folder.path()),
                    tokens = sha256_of_content(folder / "spiece.model");
  folder.write("tokenizer_config.json", R"({"extra_ids": 1})");
  EXPECT_NE(sha256_of_content(folder.path()), whole);
  EXPECT_NE(sha256_of_content(folder / "spiece.model"), tokens);
}

TEST(T5Folder, ItsTokenizerIsWrittenAsItWasRead) {
  const T5Folder folder;
  const Lines lines = data::load_vocabulary(folder / "spiece.model");
  WrittenTokenizer tokenizer = {.tokenizer_class = "T5Tokenizer", .options = {}, .lines = lines};
  const auto files = t5_files.written(tokenizer);
  EXPECT_EQ(files.at("spiece.model"), sentencepiece_model_of(own_tokens));
  const json config = json::parse(files.at("tokenizer_config.json"));
  EXPECT_EQ(config.at("tokenizer_class"), "T5Tokenizer");
  EXPECT_EQ(config.at("extra_ids"), 2);
  const Lines two = {"<unk>", "a", data::sentencepiece_header, "source QQ==", "target QQ=="};
  tokenizer.lines = two;
  EXPECT_EQ(
      testing::message_of<Error>([&] { t5_files.written(tokenizer); }),
      "a vocabulary with a model for sources and one for targets cannot be written as that of a T5, which "
      "has one for both");
}

TEST(T5Folder, IsRefusedIfAFileIsMissingOrDoesNotFit) {
  const T5Folder folder;
  folder.write("tokenizer_config.json", R"({"extra_ids": -1})");
  EXPECT_EQ(folder_problem(folder.path()), (folder / "tokenizer_config.json").string() +
                                               ": extra_ids must be an integer from 0 to 10000000, found -1");
  folder.write("tokenizer_config.json", "{");
  EXPECT_EQ(
      folder_problem(folder.path()).find((folder / "tokenizer_config.json").string() + ": line 1, column "),
      0U)
      << folder_problem(folder.path());
  folder.remove("tokenizer_config.json");
  folder.set("vocab_size", 4);
  EXPECT_EQ(folder_problem(folder.path()), (folder / "spiece.model").string() + " has 5 tokens, but " +
                                               (folder / "config.json").string() +
                                               " says vocab_size = 4; they belong to different models");
  folder.remove("spiece.model");
  EXPECT_EQ(folder_problem(folder.path())
                .find(folder.path().string() + " has no spiece.model, so its tokenizer is unknown"),
            0U)
      << folder_problem(folder.path());
}

/// MarianMT and T5 have the same kind of tokenizer, and both a decoder: the attention distinguishes them.
TEST(FamilyToWrite, IsTheOneWithTheModelsStacksAndAttention) {
  config::ModelTable model;
  model.block.resize(2);
  const auto family = [&](const char* tokenizer) {
    return std::string(family_to_write(tokenizer, model).name);
  };
  model.block[0].type = "self_attention";
  EXPECT_EQ(family("wordpiece"), "BERT");
  EXPECT_EQ(family("byte_bpe"), "RoBERTa");
  EXPECT_EQ(family("unigram"), "MarianMT") << "which then names what is missing";
  model.causal = true;
  EXPECT_EQ(family("byte_bpe"), "GPT-2");
  model.causal = false;
  model.decoder.emplace();
  EXPECT_EQ(family("byte_bpe"), "BART");
  EXPECT_EQ(family("unigram"), "MarianMT");
  model.block[0].type = "relative_attention";
  EXPECT_EQ(family("unigram"), "T5");
  EXPECT_EQ(family("byte_bpe"), "BART");
  EXPECT_EQ(
      testing::message_of<Error>([&] { family("word"); }),
      "tokenizer.type = \"word\" cannot be written: a BERT has \"wordpiece\", a RoBERTa has \"byte_bpe\", a "
      "GPT-2 has \"byte_bpe\", a BART has \"byte_bpe\", a MarianMT has \"unigram\" and a T5 has \"unigram\"");
}

}  // namespace
}  // namespace encore::pretrained
