// SPDX-License-Identifier: BSD-3-Clause
// Tests open_hugging_face_folder() (pretrained/hugging_face_folder.hpp): what it returns for a folder of a
// BERT, and the ways in which a folder is rejected. A plan and a worker call it; folders come from anyone, so
// a pickle is never opened. Folders of other families have tests of their own beside this file. The words of
// a message may change; a rejected folder must stay rejected.
#include "pretrained/hugging_face_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "unit/pretrained/folder_problem.hpp"
#include "unit/pretrained/tiny_folder.hpp"

namespace encore::pretrained {
namespace {

using testing::TinyFolder;

const std::string what_it_holds =
    "; a Hugging Face folder holds config.json, model.safetensors and vocab.txt";

TEST(HuggingFaceFolder, IsOpenedWithItsTokenizer) {
  const TinyFolder folder;
  const HuggingFaceFolder model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.config.width, 8);
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "vocab.txt");
  EXPECT_TRUE(model.tokenizer.flag->value);
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "cls_token": {"content": "[CLS]"}})");
  const HuggingFaceFolder cased = open_hugging_face_folder(folder.path());
  EXPECT_FALSE(cased.tokenizer.flag->value);
  EXPECT_EQ(cased.tokenizer.flag->reason, "do_lower_case = false");
}

TEST(HuggingFaceFolder, TakesTheVocabularyOfATokenizerJson) {
  const TinyFolder folder;
  folder.remove("vocab.txt");
  folder.write("tokenizer.json",
               R"({"normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": null},)"
               R"("model": {"type": "WordPiece", "continuing_subword_prefix": "##", "vocab":)"
               R"({"lund": 5, "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}}})");
  const HuggingFaceFolder model = open_hugging_face_folder(folder.path());
  EXPECT_EQ(model.tokenizer.vocabulary, folder / "tokenizer.json");
  EXPECT_FALSE(model.tokenizer.flag->value);
  EXPECT_EQ(files_of_hugging_face_folder(folder.path()),
            (std::vector<std::string>{"config.json", "model.safetensors", "tokenizer.json"}));
}

TEST(HuggingFaceFolder, IsRefusedIfSomethingIsMissing) {
  const TinyFolder folder;
  EXPECT_EQ(folder_problem(folder / "elsewhere"),
            (folder / "elsewhere").string() + " does not exist" + what_it_holds);
  EXPECT_EQ(folder_problem(folder / "config.json"),
            (folder / "config.json").string() + " is not a folder" + what_it_holds);
  folder.remove("vocab.txt");
  EXPECT_EQ(folder_problem(folder.path()),
            folder.path().string() +
                " has neither vocab.txt nor tokenizer.json, so its tokenizer is unknown" + what_it_holds);
  folder.remove("model.safetensors");
  EXPECT_EQ(folder_problem(folder.path()),
            folder.path().string() + " has no model.safetensors" + what_it_holds);
  folder.write("model.safetensors.index.json", "{}");
  EXPECT_EQ(
      folder_problem(folder.path()),
      folder.path().string() +
          " keeps its weights in several files (model.safetensors.index.json), which is not supported; save "
          "them as one, in Python: AutoModel.from_pretrained(DIR).save_pretrained(DIR, "
          "max_shard_size=\"100GB\")");
  folder.remove("config.json");
  EXPECT_EQ(folder_problem(folder.path()), folder.path().string() + " has no config.json" + what_it_holds);
}

TEST(HuggingFaceFolder, NeverOpensAPickle) {
  const TinyFolder folder;
  folder.remove("model.safetensors");
  folder.write("pytorch_model.bin", "\x80\x02");
  EXPECT_EQ(
      folder_problem(folder.path()),
      (folder / "pytorch_model.bin").string() +
          " is a pickle, which may run any code when it is read, and is never opened; save the weights as "
          "model.safetensors, in Python: AutoModel.from_pretrained(DIR).save_pretrained(DIR)");
}

TEST(HuggingFaceFolder, HasTheProblemTypeOfAClassifier) {
  const TinyFolder folder;
  const auto architecture = [&] { return open_hugging_face_folder(folder.path()).architecture; };
  folder.set("architectures", {"BertForSequenceClassification"});
  folder.set("id2label", {{"0", "a"}, {"1", "b"}});
  EXPECT_EQ(architecture(), "ForSequenceClassification");
  folder.set("problem_type", "single_label_classification");
  EXPECT_EQ(architecture(), "ForSequenceClassification");
  folder.set("problem_type", "multi_label_classification");
  EXPECT_EQ(architecture(), "ForSequenceClassification/multi_label_classification");
  folder.set("architectures", {"BertModel"});
  EXPECT_EQ(architecture(), "Model") << "which has no classes";
}

TEST(HuggingFaceFolder, IsRefusedWhereAFileIsDamaged) {
  const TinyFolder folder;
  const std::string config = (folder / "config.json").string();
  folder.write("config.json", "{\"model_type\": \"bert\",\n \"hidden_size\" 8}");
  EXPECT_EQ(folder_problem(folder.path()), config + ": line 2, column 16: no JSON");
  folder.write("config.json", "[]");
  EXPECT_EQ(folder_problem(folder.path()), config + ": a JSON object is expected");
  folder.write("config.json", std::string(200, '['));
  EXPECT_EQ(folder_problem(folder.path()), config + ": line 1, column 101: nested more than 100 levels deep");
  folder.write("config.json", R"({"model_type": "xlnet"})");
  EXPECT_EQ(folder_problem(folder.path()),
            config +
                ": model_type is \"xlnet\", which is another architecture; supported are \"bert\", "
                "\"distilbert\", \"roberta\", \"gpt2\", \"bart\", \"marian\" and \"t5\"");
}

TEST(HuggingFaceFolder, IsRefusedWhereTheWeightsAreCut) {
  const TinyFolder folder;
  std::filesystem::resize_file(folder / "model.safetensors", 100);
  EXPECT_TRUE(folder_problem(folder.path()).starts_with((folder / "model.safetensors").string() + ": "))
      << folder_problem(folder.path());
}

TEST(HuggingFaceFolder, WaitsForNoPipe) {
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"}) {
    const TinyFolder folder;
    folder.remove(name);
    ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
    EXPECT_NE(folder_problem(folder.path()).find((folder / name).string() + ": it is a pipe"),
              std::string::npos)
        << folder_problem(folder.path());
  }
}

TEST(HuggingFaceFolder, IsRefusedIfTheVocabularyIsOfAnotherModel) {
  const TinyFolder folder;
  folder.set("vocab_size", 5);
  EXPECT_EQ(folder_problem(folder.path()), (folder / "vocab.txt").string() + " has 6 tokens, but " +
                                               (folder / "config.json").string() +
                                               " says vocab_size = 5; they belong to different models");
  folder.set("vocab_size", 8);
  EXPECT_EQ(folder_problem(folder.path()),
            (folder / "vocab.txt").string() + " has 6 tokens, but " + (folder / "config.json").string() +
                " says vocab_size = 8; where the rest is room for more, add lines such as [unused1]");
}

TEST(HuggingFaceFolder, IsRefusedIfTheTokenizerSplitsDifferently) {
  const TinyFolder folder;
  const std::string file = (folder / "tokenizer_config.json").string();
  const auto problem_with = [&](const char* text) {
    folder.write("tokenizer_config.json", text);
    return folder_problem(folder.path());
  };
  EXPECT_EQ(problem_with(R"({"cls_token": "<s>"})"),
            file + ": cls_token is \"<s>\", but this tokenizer has \"[CLS]\" for it");
  EXPECT_EQ(problem_with(R"({"do_lower_case": "yes"})"),
            file + ": do_lower_case must be true or false, found \"yes\"");
}

TEST(HuggingFaceFolder, IsRejectedIfTheTokenizerIsNotWordPiece) {
  const TinyFolder folder;
  folder.remove("vocab.txt");
  const std::string file = (folder / "tokenizer.json").string();
  folder.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {}}})");
  EXPECT_EQ(folder_problem(folder.path()),
            file + ": the tokenizer's model is \"BPE\"; supported is \"WordPiece\"");
  folder.write("tokenizer.json", R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "b": 2}}})");
  EXPECT_EQ(folder_problem(folder.path()),
            file + ": no token has the number 1, and every number below 2 must be that of one token");
}

}  // namespace
}  // namespace encore::pretrained
