// SPDX-License-Identifier: BSD-3-Clause
// Tests folders of RoBERTa: what open_hugging_face_folder() (pretrained/hugging_face_folder.hpp) reads from
// the tokenizer's files, which folders it refuses, and the merges.txt that Encore writes for its own
// vocabularies (pretrained/tokenizer_files.hpp). The formats are those of `transformers` and must stay.
#include <gtest/gtest.h>

#include "data/vocabulary.hpp"
#include "pretrained/content_hash.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "unit/pretrained/folder_problem.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;
using testing::TinyFolder;
using Lines = std::vector<std::string>;

const Lines some_lines = {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "l", "u", "lu", "#version: 0.2", "l u"};

/// The folder has vocab.json and merges.txt.
struct RobertaFolder : TinyFolder {
  RobertaFolder() {
    remove("vocab.txt");
    write("config.json", roberta_config().dump(2));
    set("vocab_size", 8);
    write("vocab.json", vocab_json(std::span(some_lines).first(8)));
    write("merges.txt", "#version: 0.2\nl u\n");
  }
  /// Writes the same tokenizer as one tokenizer.json instead of two files.
  void write_whole(const json& changes = json::object(), const json& of_model = json::object()) const {
    remove("vocab.json");
    remove("merges.txt");
    json model = {{"type", "BPE"},
                  {"vocab", json::parse(vocab_json(std::span(some_lines).first(8)))},
                  {"merges", json::array({json::array({"l", "u"})})},
                  {"continuing_subword_prefix", ""},
                  {"dropout", nullptr}};
    model.update(of_model);
    json whole = {{"model", model}, {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", true}}}};
    whole.update(changes);
    write("tokenizer.json", whole.dump());
  }
};

TEST(RobertaFolder, IsOpenedWithTokensAndMerges) {
  const RobertaFolder folder;
  HuggingFaceFolder model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.config.max_positions, 30);
  EXPECT_EQ(model.tokenizer.type, "byte_bpe");
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "vocab.json");
  EXPECT_FALSE(model.tokenizer.flag->value);
  EXPECT_TRUE(model.tokenizer.flag->may_differ);
  EXPECT_EQ(data::load_vocabulary(model.tokenizer.vocabulary), some_lines);
  EXPECT_EQ(files_of_hugging_face_folder(folder.path()),
            (Lines{"config.json", "merges.txt", "model.safetensors", "vocab.json"}));
  folder.write("tokenizer_config.json", R"({"add_prefix_space": true})");
  EXPECT_EQ(open_hugging_face_folder(folder.path()).tokenizer.flag->reason, "add_prefix_space = true");

  folder.write_whole();
  folder.remove("tokenizer_config.json");
  model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "tokenizer.json");
  EXPECT_TRUE(model.tokenizer.flag->value);
  EXPECT_EQ(data::load_vocabulary(model.tokenizer.vocabulary), some_lines);
}

TEST(RobertaFolder, ItsHashDependsOnTheMergesToo) {
  const RobertaFolder folder;
  const std::string whole = sha256_of_content(folder.path()), file = sha256_of_content(folder / "vocab.json");
  folder.write("merges.txt", "#version: 0.2\nu l\n");
  EXPECT_NE(sha256_of_content(folder.path()), whole);
  EXPECT_NE(sha256_of_content(folder / "vocab.json"), file);
}

TEST(RobertaFolder, IsRefusedWithoutMerges) {
  const RobertaFolder folder;
  folder.remove("merges.txt");
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "merges.txt").string() +
                " is missing, so the splits of words are unknown; vocab.json needs it beside it");
  folder.write_whole(json::object(), {{"merges", nullptr}});
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "tokenizer.json").string() +
                ": \"model\" has no \"merges\", so the splits of words are unknown");
  folder.remove("tokenizer.json");
  EXPECT_TRUE(folder_problem(folder.path())
                  .starts_with(folder.path().string() + " has neither vocab.json nor tokenizer.json"))
      << folder_problem(folder.path());
}

TEST(RobertaFolder, IsRefusedIfItsPaddingIsAnotherToken) {
  const RobertaFolder folder;
  folder.set("pad_token_id", 0);
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "config.json").string() +
                ": pad_token_id is 0, and positions are counted from it, but the token <pad> of "
                "the vocabulary has the number 1");
}

TEST(RobertaFolder, IsRefusedIfItsTokenizerSplitsDifferently) {
  const RobertaFolder folder;
  const std::string file = (folder / "tokenizer.json").string();
  const auto said = [&](const json& changes, const json& of_model) {
    folder.write_whole(changes, of_model);
    return folder_problem(folder.path());
  };
  EXPECT_EQ(said(json::object(), {{"type", "WordPiece"}}),
            file + ": the tokenizer's model is \"WordPiece\"; supported is \"BPE\"");
  EXPECT_EQ(said(json::object(), {{"end_of_word_suffix", "</w>"}}),
            file + ": end_of_word_suffix is \"</w>\", but this tokenizer has none");
  EXPECT_EQ(said(json::object(), {{"byte_fallback", true}}),
            file + ": byte_fallback is true, but this tokenizer merges bytes by merges alone");
  EXPECT_EQ(said(json::object(), {{"dropout", 0.1}}),
            file + ": dropout is 0.1, but this tokenizer leaves out no merges");
  EXPECT_EQ(
      said({{"normalizer", {{"type", "Lowercase"}}}}, json::object()),
      file + R"(: the normalizer {"type":"Lowercase"} changes the text, which this tokenizer does not)");
  EXPECT_EQ(
      said({{"pre_tokenizer", {{"type", "Whitespace"}}}}, json::object()),
      file + R"(: the pre_tokenizer is {"type":"Whitespace"}; supported is "ByteLevel" with use_regex)");
  EXPECT_EQ(said(json::object(), {{"merges", {1}}}), file + ": merge 1 is neither a text nor two of them");
}

TEST(RobertaFolder, MergesAreWrittenAsTheyWereRead) {
  EXPECT_EQ(merges_text(some_lines, {}), "#version: 0.2\nl u\n");
}

TEST(RobertaFolder, MergesOfATrainedVocabularyAreAllPairsThatFormAToken) {
  const Lines tokens = {"[UNK]", "a", "b", "ab", "ba", "aba"};
  const std::vector<std::int32_t> specials = {0};
  EXPECT_EQ(merges_text(tokens, specials), "#version: 0.2\na b\nb a\na ba\nab a\n");
}

}  // namespace
}  // namespace encore::pretrained
