// SPDX-License-Identifier: BSD-3-Clause
// Tests settings_of() (pretrained/folder_settings.hpp): what the files of a Hugging Face folder say beside
// the shape of the model is used as options, rejected by name, or named in a notice; nothing may be ignored
// in silence. field_rules_test.cpp tests the table of rules behind it. The words of a notice may change.
#include "pretrained/folder_settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "config/toml.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;
using testing::TinyFolder;

FolderSettings settings_in(const TinyFolder& folder) {
  return settings_of(open_hugging_face_folder(folder.path()));
}

/// The result of message_of for a call that throws nothing.
constexpr const char* no_problem = "no error";

std::string problem_in(const TinyFolder& folder) {
  return testing::message_of<Error>([&] { settings_in(folder); });
}

/// Returns the option `name` as an experiment file writes it, or "-" if it is not set. `head` is the type of
/// the head that has the option; empty for other options.
std::string option_in(const FolderSettings& settings, const std::string& name, const std::string& head = "") {
  for (const FolderSettings::Option& each : settings.options)
    if (each.head == head && each.option.path.back() == name) return config::to_text(each.option.value);
  return "-";
}

/// Returns a tokenizer.json with the vocabulary of the folder, and with `added` as its added tokens.
json whole(const json& added = json::array()) {
  const auto marker = [](const char* token, int number) {
    return json{{"id", token}, {"ids", {number}}, {"tokens", {token}}};
  };
  const auto special = [](const char* token, int segment) {
    return json{{"SpecialToken", {{"id", token}, {"type_id", segment}}}};
  };
  const auto text = [](const char* name, int segment) {
    return json{{"Sequence", {{"id", name}, {"type_id", segment}}}};
  };
  return {
      {"added_tokens", added},
      {"normalizer",
       {{"type", "BertNormalizer"},
        {"clean_text", true},
        {"handle_chinese_chars", true},
        {"strip_accents", nullptr},
        {"lowercase", true}}},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {special("[CLS]", 0), text("A", 0), special("[SEP]", 0)}},
        {"pair", {special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1), special("[SEP]", 1)}},
        {"special_tokens", {{"[CLS]", marker("[CLS]", 2)}, {"[SEP]", marker("[SEP]", 3)}}}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 100},
        {"vocab", {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"[MASK]", 4}, {"lund", 5}}}}}};
}

json added(const char* content, int number, const json& flags = json::object()) {
  json token = {{"id", number},         {"content", content},  {"lstrip", false}, {"rstrip", false},
                {"single_word", false}, {"normalized", false}, {"special", false}};
  token.update(flags);
  return token;
}

TEST(FolderSettings, OfAnOrdinaryFolderAreTheDefaults) {
  const TinyFolder folder;
  const FolderSettings settings = settings_in(folder);
  EXPECT_EQ(option_in(settings, "lowercase"), "true");
  EXPECT_EQ(option_in(settings, "strip_accents"), "-");
  EXPECT_EQ(option_in(settings, "added_tokens"), "-");
  EXPECT_TRUE(std::ranges::all_of(settings.options, [](const FolderSettings::Option& each) {
    return each.option.is_default || each.option.path.back() == "lowercase";
  }));
  EXPECT_EQ(settings.max_length, 32);
  EXPECT_EQ(settings.notices, std::vector<std::string>());
}

TEST(FolderSettings, HonourTheCleaningOfInputsWithoutDoLowerCase) {
  const TinyFolder folder;
  folder.write("tokenizer_config.json", R"({"strip_accents": false})");
  EXPECT_EQ(option_in(settings_in(folder), "strip_accents"), "false");
  EXPECT_EQ(option_in(settings_in(folder), "lowercase"), "true");
  folder.write("tokenizer_config.json", R"({"tokenize_chinese_chars": false})");
  EXPECT_EQ(option_in(settings_in(folder), "tokenize_chinese_chars"), "false");
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_EQ(option_in(settings_in(folder), "strip_accents"), "true");
  EXPECT_EQ(option_in(settings_in(folder), "lowercase"), "false");
}

TEST(FolderSettings, RefuseFilesOfATokenizerThatDisagree) {
  const TinyFolder folder;
  folder.write("tokenizer.json", whole().dump());
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(
      problem_in(folder),
      (folder / "tokenizer.json").string() +
          R"(: the normalizer {"clean_text":true,"handle_chinese_chars":true,"lowercase":t... contradicts )" +
          (folder / "tokenizer_config.json").string() +
          ": do_lower_case = false, strip_accents = false, tokenize_chinese_chars = true (defaults "
          "included); make both equal");
  // This class takes all settings from tokenizer.json.
  folder.write("tokenizer_config.json",
               R"({"do_lower_case": false, "tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(option_in(settings_in(folder), "lowercase"), "true");
}

TEST(FolderSettings, RejectAnAddedTokenThatIsNotAnObject) {
  const TinyFolder folder;
  for (const json& token : {json(1), json("[E9]"), json::array(), json(nullptr)}) {
    folder.write("tokenizer.json", whole(json::array({token})).dump());
    EXPECT_EQ(problem_in(folder), (folder / "tokenizer.json").string() +
                                      ": an added token must be a JSON object, found " + token.dump());
  }
}

TEST(FolderSettings, RefuseAnotherClassOfTokenizer) {
  const TinyFolder folder;
  const std::string supported =
      "\", which tokenizes in another way; supported for a bert are \"BertTokenizer\", "
      "\"DistilBertTokenizer\", "
      "\"PreTrainedTokenizerFast\", \"TokenizersBackend\"";
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_EQ(problem_in(folder), (folder / "tokenizer_config.json").string() +
                                    ": tokenizer_class is \"BertJapaneseTokenizer" + supported);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizerFast"})");
  folder.set("tokenizer_class", "AlbertTokenizer");
  EXPECT_EQ(problem_in(folder), no_problem);
  folder.remove("tokenizer_config.json");
  EXPECT_EQ(problem_in(folder),
            (folder / "config.json").string() + ": tokenizer_class is \"AlbertTokenizer" + supported);
  folder.set("tokenizer_class", "TokenizersBackend");
  EXPECT_EQ(problem_in(folder), (folder / "config.json").string() +
                                    ": tokenizer_class is \"TokenizersBackend\", which takes "
                                    "everything from tokenizer.json, and the folder has none");
}

TEST(FolderSettings, RefuseAnotherMarkerInEitherFile) {
  const TinyFolder folder;
  folder.write("special_tokens_map.json", R"({"cls_token": "lund"})");
  EXPECT_EQ(problem_in(folder), (folder / "special_tokens_map.json").string() +
                                    ": cls_token is \"lund\", but this tokenizer has \"[CLS]\" for it");
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {}})");
  EXPECT_EQ(problem_in(folder), no_problem);
}

TEST(FolderSettings, NameTokensThatInputsMayContain) {
  const TinyFolder folder;
  folder.remove("vocab.txt");
  folder.set("vocab_size", 7);
  folder.write(
      "tokenizer.json",
      whole(json::array({added("[PAD]", 0, {{"special", true}}), added("<drug>", 6, {{"normalized", true}})}))
          .dump());
  EXPECT_EQ(option_in(settings_in(folder), "added_tokens"), "[normalized,outside <drug>]");
  folder.write("tokenizer_config.json", R"({"extra_special_tokens": ["lund"], "thing_token": "<drug>"})");
  EXPECT_EQ(option_in(settings_in(folder), "added_tokens"), "[normalized,outside <drug>, special lund]");
  folder.write("tokenizer_config.json", R"({"extra_special_tokens": ["[E9]"]})");
  EXPECT_EQ(problem_in(folder), (folder / "tokenizer_config.json").string() +
                                    ": the token \"[E9]\" has no row in the table of tokens: " +
                                    (folder / "tokenizer.json").string() + " does not hold it");
  folder.write("tokenizer_config.json", R"({"mask_token": {"content": "[MASK]", "lstrip": true}})");
  EXPECT_EQ(option_in(settings_in(folder), "added_tokens"),
            "[normalized,outside <drug>, lstrip,special [MASK]]");
}

TEST(FolderSettings, OfAddedTokensAreWritten) {
  const std::vector<std::string> lines = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "lund", "<drug>"};
  WrittenTokenizer tokenizer = {.tokenizer_class = "BertTokenizer", .options = {}, .lines = lines};
  tokenizer.options.set("lowercase", false);
  const auto write = [&](const std::string& entry) {
    tokenizer.options.set("added_tokens", std::vector<std::string>{entry});
    return json::parse(wordpiece_files.written(tokenizer).at("tokenizer_config.json"))
        .at("added_tokens_decoder");
  };
  EXPECT_EQ(write("lstrip,outside <drug>").at("5"), json({{"content", "<drug>"},
                                                          {"lstrip", true},
                                                          {"rstrip", false},
                                                          {"single_word", false},
                                                          {"normalized", false},
                                                          {"special", false}}));
  EXPECT_EQ(testing::message_of<Error>([&] { write("single_word,outside <drug>"); }),
            "tokenizer.added_tokens has \"single_word,outside <drug>\", a single word that is never split, "
            "which vocab.txt cannot express");
}

TEST(FolderSettings, ReadAddedTokensOfOlderVersions) {
  const TinyFolder folder;
  folder.write("added_tokens.json", R"({"lund": 5})");
  EXPECT_EQ(option_in(settings_in(folder), "added_tokens"), "[normalized lund]");
  folder.write("special_tokens_map.json", R"({"additional_special_tokens": ["lund"]})");
  EXPECT_EQ(option_in(settings_in(folder), "added_tokens"), "[special lund]");
  folder.write("added_tokens.json", R"({"lund": 4})");
  EXPECT_EQ(problem_in(folder), (folder / "added_tokens.json").string() +
                                    ": the added token \"lund\" has the number 4, but it is token 5 in " +
                                    (folder / "vocab.txt").string() +
                                    "; save the tokenizer again with save_pretrained, so that "
                                    "tokenizer.json holds all tokens");
}

TEST(FolderSettings, RefusePartsOfTokenizerJsonThatSplitDifferently) {
  const TinyFolder folder;
  const auto problem_with = [&](const char* part, const json& value) {
    json all = whole();
    all[json::json_pointer(part)] = value;
    folder.write("tokenizer.json", all.dump());
    return problem_in(folder);
  };
  const std::string file = (folder / "tokenizer.json").string();
  EXPECT_EQ(problem_with("/normalizer", {{"type", "NFC"}}),
            file + R"(: the normalizer is {"type":"NFC"}; supported is a "BertNormalizer" with clean_text)");
  EXPECT_EQ(problem_with("/pre_tokenizer", {{"type", "Whitespace"}}),
            file + R"(: the pre_tokenizer is {"type":"Whitespace"}; supported is "BertPreTokenizer")");
  EXPECT_EQ(problem_with("/model/max_input_chars_per_word", 9),
            file + ": max_input_chars_per_word is 9, but this tokenizer cuts words of up to 100 characters");
  EXPECT_EQ(problem_with("/model/vocab/lund", 4),
            file + ": the token \"lund\" has the number 4, but not in " + (folder / "vocab.txt").string() +
                "; they belong to different models");
  EXPECT_NE(
      problem_with("/post_processor/pair/4/SpecialToken/type_id", 0).find(file + ": the post_processor is "),
      std::string::npos);
  EXPECT_EQ(problem_with("/post_processor",
                         {{"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}}),
            no_problem);
}

TEST(FolderSettings, TakeATemplateOfGpt2ThatAddsNothing) {
  const TinyFolder folder;
  folder.remove("vocab.txt");
  folder.write("config.json", TinyFolder::gpt2_config().dump());
  folder.set("vocab_size", 3);
  for (const char* name : {"bos_token_id", "eos_token_id"}) folder.set(name, 0);
  const auto problem_with = [&](const json& single) {
    const json model = {{"type", "BPE"},
                        {"vocab", {{"<|endoftext|>", 0}, {"l", 1}, {"u", 2}}},
                        {"merges", json::array()},
                        {"dropout", nullptr}};
    folder.write("tokenizer.json",
                 json{{"model", model},
                      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                      {"post_processor", {{"type", "TemplateProcessing"}, {"single", single}}}}
                     .dump());
    return problem_in(folder);
  };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json marker = {{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}};
  EXPECT_EQ(problem_with(json::array({text})), no_problem);
  EXPECT_NE(problem_with(json::array({marker, text})).find("the post_processor is "), std::string::npos);
  EXPECT_NE(problem_with(json::array({json{{"Sequence", {}}}})).find("the post_processor is "),
            std::string::npos);
}

TEST(FolderSettings, HonourAMatrixOfItsOwnForMaskedWords) {
  const TinyFolder folder;
  folder.set("tie_word_embeddings", false);
  folder.set("hidden_act", "relu");
  folder.set("layer_norm_eps", 1e-5);
  const FolderSettings settings = settings_in(folder);
  EXPECT_EQ(option_in(settings, "tied", "language_model"), "false");
  EXPECT_EQ(option_in(settings, "activation", "language_model"), "relu");
  EXPECT_EQ(option_in(settings, "epsilon", "language_model"), "1e-5");
}

TEST(FolderSettings, RefuseTwoTablesThatShouldBeOne) {
  const TinyFolder folder;
  folder.set("architectures", {"BertForMaskedLM"});
  const std::vector<float> table(48, 0.5F), other(48, 0.25F);
  const auto save = [&](const std::vector<float>& copy) {
    record::save_safetensors(folder / "model.safetensors",
                             {{.name = "bert.embeddings.word_embeddings.weight",
                               .dtype = DType::float32,
                               .shape = {6, 8},
                               .bytes = std::as_bytes(std::span(table))},
                              {.name = "cls.predictions.decoder.weight",
                               .dtype = DType::float32,
                               .shape = {6, 8},
                               .bytes = std::as_bytes(std::span(copy))}},
                             {{"format", "pt"}});
  };
  save(table);
  EXPECT_EQ(problem_in(folder), no_problem);
  save(other);
  EXPECT_EQ(
      problem_in(folder),
      (folder / "model.safetensors").string() +
          " holds \"cls.predictions.decoder.weight\" and \"bert.embeddings.word_embeddings.weight\" with "
          "different values, which config.json declares equal (tie_word_embeddings); if the first is for "
          "the logits, set tie_word_embeddings = false there");
  folder.set("tie_word_embeddings", false);
  EXPECT_EQ(problem_in(folder), no_problem);
}

/// A folder of sentence-transformers.
struct SentenceFolder : TinyFolder {
  SentenceFolder() {
    std::filesystem::create_directory(path() / "1_Pooling");
    write("modules.json", modules({"Transformer", "Pooling", "Normalize"}).dump());
    write("1_Pooling/config.json", R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": true})");
    write("sentence_bert_config.json", R"({"max_seq_length": 10, "do_lower_case": true})");
    write("tokenizer_config.json", R"({"do_lower_case": false})");
  }
  static json modules(const std::vector<std::string>& names) {
    json list = json::array();
    for (const std::string& name : names)
      list.push_back({{"path", list.empty() ? "" : std::to_string(list.size()) + "_" + name},
                      {"type", "sentence_transformers.models." + name}});
    return list;
  }
};

TEST(FolderSettings, HonourTheModulesOfSentenceTransformers) {
  const SentenceFolder folder;
  const FolderSettings settings = settings_in(folder);
  EXPECT_EQ(option_in(settings, "pooling", "embedding"), "cls");
  EXPECT_EQ(option_in(settings, "normalize", "embedding"), "true");
  EXPECT_EQ(option_in(settings, "lowercase", "embedding"), "true");
  EXPECT_EQ(option_in(settings, "strip_accents", "embedding"), "false");
  EXPECT_EQ(option_in(settings, "lowercase"), "false");
  EXPECT_EQ(settings.max_length, 10);
}

TEST(FolderSettings, KnowTheOlderNamesOfAFile) {
  const SentenceFolder folder;
  folder.remove("sentence_bert_config.json");
  EXPECT_EQ(settings_in(folder).max_length, 32);
  folder.write("sentence_roberta_config.json", R"({"max_seq_length": 7, "query_length": 5})");
  EXPECT_EQ(problem_in(folder), (folder / "sentence_roberta_config.json").string() +
                                    ": query_length is 5, which is not supported; it must be absent or null");
  folder.write("sentence_roberta_config.json", R"({"max_seq_length": 7})");
  EXPECT_EQ(settings_in(folder).max_length, 7);
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 9})");
  EXPECT_EQ(settings_in(folder).max_length, 9);
}

TEST(FolderSettings, RefuseAnAdapter) {
  const TinyFolder folder;
  folder.write("adapter_config.json", "{}");
  EXPECT_EQ(problem_in(folder), (folder / "adapter_config.json").string() +
                                    ": an adapter beside the weights is not supported; join them, in Python: "
                                    "model.merge_and_unload().save_pretrained(DIR)");
}

TEST(FolderSettings, RefuseOtherModulesAndPoolings) {
  const SentenceFolder folder;
  const std::string pooling = (folder / "1_Pooling/config.json").string();
  folder.write("1_Pooling/config.json", R"({"pooling_mode": "lasttoken"})");
  EXPECT_EQ(problem_in(folder),
            pooling + ": pooling is \"lasttoken\"; supported is one of \"cls\" and \"mean\"");
  folder.write("1_Pooling/config.json",
               R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})");
  EXPECT_EQ(problem_in(folder),
            pooling + ": pooling is \"cls, mean\"; supported is one of \"cls\" and \"mean\"");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
  EXPECT_EQ(problem_in(folder),
            pooling + ": pooling_mode_max_tokens is true, which is not supported; it must be false");
  folder.write("1_Pooling/config.json", "{}");
  folder.write("modules.json", SentenceFolder::modules({"Transformer", "Pooling", "Dense"}).dump());
  EXPECT_EQ(
      problem_in(folder),
      (folder / "modules.json").string() +
          ": module 2 is \"sentence_transformers.models.Dense\" in \"2_Dense\"; supported are Transformer in "
          "the folder itself, then Pooling, then Normalize");
  for (const char* member : {"path", "type"}) {
    json modules = SentenceFolder::modules({"Transformer", "Pooling", "Normalize"});
    modules[2][member] = 1;
    folder.write("modules.json", modules.dump());
    EXPECT_EQ(problem_in(folder),
              (folder / "modules.json").string() + ": " + member + " must be a text, found 1");
  }
}

}  // namespace
}  // namespace encore::pretrained
