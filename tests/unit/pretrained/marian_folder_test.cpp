// SPDX-License-Identifier: BSD-3-Clause
// Tests folders of MarianMT (marian_family, pretrained/family.hpp): names of tensors, the files of their
// tokenizer (two SentencePiece models) as read and written, and rejected folders. A folder that is written
// must have the tokenizer files that were read, byte for byte.
#include <gtest/gtest.h>

#include <encore/base64.hpp>

#include "data/vocabulary.hpp"
#include "pretrained/content_hash.hpp"
#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "unit/pretrained/folder_problem.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;
using testing::sentencepiece_model_of;
using testing::TinyFolder;
using Lines = std::vector<std::string>;

const Lines some_tokens = {"<pad>", "<unk>", ">>de<<", "</s>", "▁a", "b"};

struct MarianFolder : TinyFolder {
  MarianFolder() {
    remove("vocab.txt");
    write("config.json", marian_config().dump(2));
    write("vocab.json", vocab_json(some_tokens));
    write("source.spm", sentencepiece_model_of({"<unk>", "▁a"}));
    write("target.spm", sentencepiece_model_of({"<unk>", "b"}));
  }
};

TEST(MarianFolder, IsOpenedWithBothModels) {
  const MarianFolder folder;
  const HuggingFaceFolder model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.architecture, "MTModel");
  EXPECT_EQ(model.tokenizer.type, "unigram");
  EXPECT_FALSE(model.tokenizer.flag);
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "vocab.json");
  const Lines lines = data::load_vocabulary(model.tokenizer.vocabulary);
  EXPECT_EQ(data::token_count(lines), some_tokens.size());
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 6), some_tokens);
  EXPECT_EQ(data::sentencepiece_model(lines, "source"), sentencepiece_model_of({"<unk>", "▁a"}));
  EXPECT_EQ(data::sentencepiece_model(lines, "target"), sentencepiece_model_of({"<unk>", "b"}));
  EXPECT_EQ(data::sentencepiece_model(lines, "model"), "");
  EXPECT_EQ(files_of_hugging_face_folder(folder.path()),
            (Lines{"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"}));
}

TEST(MarianFolder, ItsHashDependsOnItsModelsToo) {
  const MarianFolder folder;
  for (const char* name : {"source.spm", "target.spm"}) {
    const std::string whole = sha256_of_content(folder.path()),
                      file = sha256_of_content(folder / "vocab.json");
    folder.write(name, sentencepiece_model_of({"<unk>", "c"}));
    EXPECT_NE(sha256_of_content(folder.path()), whole) << name;
    EXPECT_NE(sha256_of_content(folder / "vocab.json"), file) << name;
  }
}

TEST(MarianFolder, IsRefusedIfAFileIsMissing) {
  const MarianFolder folder;
  folder.remove("target.spm");
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "target.spm").string() +
                " is missing, so the splits of targets are unknown; vocab.json needs it beside it");
  folder.remove("source.spm");
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "source.spm").string() +
                " is missing, so the splits of sources are unknown; vocab.json needs it beside it");
  folder.remove("vocab.json");
  EXPECT_EQ(folder_problem(folder.path())
                .find(folder.path().string() + " has no vocab.json with source.spm and target.spm "
                                               "beside it, so its tokenizer is unknown"),
            0U)
      << folder_problem(folder.path());
}

TEST(MarianFolder, IsRefusedIfItsVocabularyDoesNotFit) {
  const MarianFolder folder;
  folder.write("tokenizer_config.json", R"({"separate_vocabs": true})");
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "tokenizer_config.json").string() +
                ": separate_vocabs is true, but sources and targets have one vocabulary here");
  folder.remove("tokenizer_config.json");
  Lines more = some_tokens;
  more.emplace_back("c");
  folder.write("vocab.json", vocab_json(more));
  EXPECT_EQ(folder_problem(folder.path()), (folder / "vocab.json").string() + " has 7 tokens, but " +
                                               (folder / "config.json").string() +
                                               " says vocab_size = 6; they belong to different models");
}

TEST(MarianFolder, HasBartsNamesWithoutPositions) {
  const auto name = [](const char* path) {
    const auto tensors = marian_family.tensors_of(path, PretrainedHead::language_model);
    return tensors.empty() ? "" : tensors.front().name;
  };
  EXPECT_EQ(name("embedding.tokens"), "model.shared.weight");
  EXPECT_EQ(name("decoder.1.cross.out.bias"), "model.decoder.layers.1.encoder_attn.out_proj.bias");
  EXPECT_TRUE(marian_family.is_buffer("model.encoder.embed_positions.weight"));
  EXPECT_FALSE(marian_family.is_of_body("model.decoder.embed_positions.weight"));
  EXPECT_TRUE(marian_family.is_of_body("model.decoder.layers.0.fc1.bias"));
}

TEST(MarianFolder, ItsTokenizerIsWrittenAsItWasRead) {
  const MarianFolder folder;
  const Lines lines = data::load_vocabulary(folder / "vocab.json");
  WrittenTokenizer tokenizer = {.tokenizer_class = "MarianTokenizer", .options = {}, .lines = lines};
  auto files = marian_files.written(tokenizer);
  for (const char* name : {"vocab.json", "source.spm", "target.spm"})
    EXPECT_EQ(files.at(name), testing::read_bytes(folder / name)) << name;
  EXPECT_EQ(json::parse(files.at("tokenizer_config.json")).at("tokenizer_class"), "MarianTokenizer");
  tokenizer.specials.front() = "</s>";
  tokenizer.options.set("added_tokens", Lines{"special </s>", "special >>de<<"});
  const json config = json::parse(marian_files.written(tokenizer).at("tokenizer_config.json"));
  ASSERT_EQ(config.at("added_tokens_decoder").size(), 1U) << "the class knows its markers";
  EXPECT_EQ(config.at("added_tokens_decoder").at("2").at("content"), ">>de<<");
  EXPECT_EQ(config.at("added_tokens_decoder").at("2").at("special"), true);
  const Lines one = {"<unk>", "a", data::sentencepiece_header, "model " + to_base64("whole")};
  tokenizer.lines = one;
  files = marian_files.written(tokenizer);
  EXPECT_EQ(files.at("source.spm"), "whole");
  EXPECT_EQ(files.at("target.spm"), "whole") << "one model cuts both sides";
}

TEST(SentencePieceFile, IsRejectedIfInvalid) {
  const testing::TemporaryFolder folder;
  const std::string file = (folder / "a.model").string();
  const auto refusal = [&](const std::string& bytes) {
    testing::write_bytes(file, bytes);
    return testing::message_of<Error>([&] { data::load_vocabulary(file); });
  };
  const std::string none = file + ": invalid SentencePiece model: ";
  EXPECT_EQ(refusal(""), none + "it has no tokens");
  EXPECT_EQ(refusal("[PAD]\n[UNK]\n"), none + "a field has an unknown wire type");
  EXPECT_EQ(refusal(sentencepiece_model_of({"<unk>", "a"}).substr(0, 12)), none + "it ends within a field");
  EXPECT_EQ(refusal(sentencepiece_model_of({"<unk>", ""})), none + "token 1 is empty");
  EXPECT_EQ(refusal(sentencepiece_model_of({"<unk>", "\xFF"})), none + "token 1 is not UTF-8");
  EXPECT_EQ(refusal(std::string(12, '\xFF')), none + "a number has too many digits");
  EXPECT_EQ(
      refusal(sentencepiece_model_of({"<unk>", "a\nb"})),
      file + ": token 1 of this model of SentencePiece holds a line end, and a vocabulary is kept in lines");
  EXPECT_EQ(testing::message_of<Error>([&] {
              data::load_vocabulary(folder / "none.spm");
            }).find("cannot read the SentencePiece model " + (folder / "none.spm").string()),
            0U);
}

TEST(Base64, ComesBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");  // RFC 4648, section 10
  EXPECT_EQ(testing::message_of<Error>([] { from_base64("abc"); }), "a base64 text has 3 letters");
  EXPECT_EQ(testing::message_of<Error>([] { from_base64("a-bc"); }),
            "a base64 text has an unknown letter at place 1");
}

}  // namespace
}  // namespace encore::pretrained
