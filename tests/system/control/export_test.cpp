// SPDX-License-Identifier: BSD-3-Clause
// Tests that a model is exported as a Hugging Face folder and imported again: `exp export`
// (worker/export_verb.cpp, infer/hugging_face_export.hpp), and [model] from = that folder. The parameters
// must come back bit by bit. Also what both reject. Names of files and tensors are those of `transformers`
// and must stay; words may change.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "record/safetensors.hpp"
#include "system/control/bert_experiment.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Returns an experiment that starts from the folder and trains with a rate so small that no number changes.
std::string restful_experiment(const std::string& name, const std::string& folder,
                               const std::string& model = "") {
  return "name = \"" + name + R"("
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
max_length = 32
[model]
from = ")" +
         folder + "\"\n" + model + R"([model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-30
weight_decay = 0
[schedule]
type = "constant"
[train]
batch_size = 16
epochs = 1
)";
}

class Export : public RealWorkerTest {
 protected:
  void train(const std::string& name, const std::string& text) const {
    sandbox_.write(name + ".toml", text);
    output_of({"run", name + ".toml", "-q"});
  }
  json json_in(const std::string& file) const { return json::parse(sandbox_.read(file)); }
  /// Returns the names in the folder of the database that contain `part`: exported folders and the remains of
  /// unfinished ones.
  std::vector<std::string> folders_with(const std::string& part) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(sandbox_.folder()))
      if (contains(entry.path().filename().string(), part)) names.push_back(entry.path().filename().string());
    return names;
  }
};

TEST_F(Export, WritesAFolderWhoseParametersComeBackBitByBit) {
  train("bert", bert_experiment("bert"));
  const std::string said = output_of({"export", "bert", "--format", "huggingface", "-o", "out"});
  EXPECT_TRUE(contains(said, "written to ") && contains(said, " as BertForTokenClassification with "))
      << said;
  EXPECT_EQ(folders_with("out"), std::vector<std::string>{"out"}) << "no temporary folder is left";

  const json config = json_in("out/config.json");
  EXPECT_EQ(config.at("architectures"), json({"BertForTokenClassification"}));
  EXPECT_EQ(config.at("hidden_size"), 16);
  EXPECT_EQ(config.at("max_position_embeddings"), 40);
  EXPECT_EQ(config.at("type_vocab_size"), 2);
  EXPECT_EQ(config.at("hidden_act"), "gelu");
  EXPECT_EQ(config.at("label2id").size(), config.at("id2label").size());
  EXPECT_EQ(json_in("out/tokenizer_config.json").at("do_lower_case"), true);
  EXPECT_EQ(json_in("out/special_tokens_map.json").at("cls_token"), "[CLS]");

  train("again", restful_experiment("again", "out"));
  output_of({"export", "again", "-o", "again-out"});
  EXPECT_EQ(sandbox_.read("out/model.safetensors"), sandbox_.read("again-out/model.safetensors"));
  EXPECT_EQ(sandbox_.read("out/vocab.txt"), sandbox_.read("again-out/vocab.txt"));
  json before = config, after = json_in("again-out/config.json");
  EXPECT_EQ(before, after);
  const json first = json::parse(output_of({"evaluate", "bert", "test.conll", "--json"}));
  const json second = json::parse(output_of({"evaluate", "again", "test.conll", "--json"}));
  EXPECT_EQ(first.at("measures"), second.at("measures"));
}

TEST_F(Export, TheRunNeedsTheFolderOnlyToTrain) {
  train("bert", bert_experiment("bert"));
  output_of({"export", "bert", "-o", "out"});
  train("again", restful_experiment("again", "out"));
  fs::rename(sandbox_.folder() / "out", sandbox_.folder() / "elsewhere");
  output_of({"predict", "again", "Anna met Berg ."});
  EXPECT_TRUE(contains(refusal_of({"verify", "again"}), "out (model.from of run again) is missing"));
  fs::rename(sandbox_.folder() / "elsewhere", sandbox_.folder() / "out");
  EXPECT_TRUE(contains(output_of({"verify", "again"}), "again equal: "));
  sandbox_.write("out/tokenizer_config.json", "{\"do_lower_case\": true, \"x\": 1}");
  EXPECT_TRUE(contains(refusal_of({"verify", "again"}),
                       "out (model.from of run again) has changed since the run was planned"));
}

TEST_F(Export, WritesAModelCardFromTheDatabase) {
  sandbox_.write("bert.toml", bert_experiment("bert"));
  output_of({"run", "bert.toml", "--seeds", "1-2", "-q"});
  const json answer = json::parse(output_of({"export", "bert-s1", "-o", "out", "--json"}));
  EXPECT_EQ(answer.at("architecture"), "BertForTokenClassification");
  EXPECT_EQ(answer.at("run"), "bert-s1");
  const std::string card = sandbox_.read("out/README.md");
  EXPECT_TRUE(card.starts_with("---\nlibrary_name: transformers\npipeline_tag: token-classification\n"))
      << card;
  for (const std::string& part :
       {std::string("are over 2 runs that differ in the seed alone: 1 and 2."),
        std::string("| `test/f1`, % | "), std::string("exp verify bert-s1"),
        std::string("It has not been verified yet."),
        "`" + sha256_of_file(sandbox_.folder() / "out/model.safetensors") + "`",
        "| `train` | `train.conll` | `" + sha256_of_file(sandbox_.folder() / "train.conll") + "` |",
        std::string("| `model.width` | `16` |"),
        std::string("BertForTokenClassification.from_pretrained(DIR)")})
    EXPECT_TRUE(contains(card, part)) << part << "\n" << card;
}

TEST_F(Export, RoundsToSixteenBitsOnce) {
  train("bert", bert_experiment("bert"));
  output_of({"export", "bert", "-o", "whole"});
  for (const std::string type : {"float16", "bfloat16"}) {
    const std::string folder = "in-" + type;
    EXPECT_TRUE(
        contains(output_of({"export", "bert", "-o", folder, "--dtype", type}), " parameters in " + type));
    EXPECT_EQ(json_in(folder + "/config.json").at("torch_dtype"), type);
    EXPECT_TRUE(contains(sandbox_.read(folder + "/README.md"), "are rounded from float32 to " + type + ". "));
    const record::Safetensors whole(sandbox_.folder() / "whole/model.safetensors"),
        rounded(sandbox_.folder() / folder / "model.safetensors");
    ASSERT_EQ(rounded.tensors().size(), whole.tensors().size());
    for (const auto& [name, tensor] : rounded.tensors()) {
      EXPECT_EQ(record::name_of(tensor.dtype), type) << name;
      EXPECT_EQ(2 * tensor.bytes.size(), whole.tensor(name).bytes.size()) << name;
    }
    train("from-" + type, restful_experiment("from-" + type, folder));
    output_of({"export", "from-" + type, "-o", "again-" + type, "--dtype", type});
    EXPECT_EQ(sandbox_.read("again-" + type + "/model.safetensors"),
              sandbox_.read(folder + "/model.safetensors"))
        << "rounded numbers are not rounded again";
  }
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "out", "--dtype", "int8"}),
                       "invalid --dtype \"int8\": expected float32, bfloat16 or float16"));
  EXPECT_TRUE(folders_with("out").empty());
}

TEST_F(Export, OfWholeTextNeedsAPoolerOfTheFirstState) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += std::string(i % 2 == 0 ? "a good film\tpositive\n" : "a bad film\tnegative\n");
  for (const char* set : {"train.tsv", "dev.tsv", "test.tsv"}) sandbox_.write(set, lines);
  std::string text = bert_experiment("texts");
  replace_first(text, "\"ner\"", "\"classify\"");
  replace_first(text, "\"conll\"", "\"tsv\"");
  for (const std::string set : {"train", "dev", "test"}) replace_first(text, set + ".conll", set + ".tsv");
  replace_first(text, "vocab_size = 120", "vocab_size = 30");
  train("texts", text);
  EXPECT_TRUE(
      contains(refusal_of({"export", "texts", "-o", "out"}),
               "model.head.pooler = false cannot be written as a BERT: BertForSequenceClassification has a "
               "pooler between the first state and the classes; train with model.head.pooler = true"));
  EXPECT_TRUE(folders_with("out").empty()) << "nothing is written";
  std::string averaged = text;
  replace_first(averaged, "type = \"linear\"", "type = \"linear\"\npooler = true\npooling = \"mean\"");
  replace_first(averaged, "\"texts\"", "\"averaged\"");
  train("averaged", averaged);
  EXPECT_TRUE(
      contains(refusal_of({"export", "averaged", "-o", "out"}),
               "model.head.type = \"linear\" reads all states of a text here, which cannot be written as a "
               "BERT: it classifies a text by its first state; with the head \"linear\" set "
               "model.head.pooling = \"cls\" and model.head.pooler = true"));
  replace_first(text, "type = \"linear\"", "type = \"linear\"\npooler = true");
  replace_first(text, "\"texts\"", "\"pooled\"");
  train("pooled", text);
  output_of({"export", "pooled", "-o", "out"});
  EXPECT_EQ(json_in("out/config.json").at("architectures"), json({"BertForSequenceClassification"}));
  EXPECT_EQ(json_in("out/config.json").at("id2label").size(), 2U);
}

TEST_F(Export, RefusesWhatBertHasNoWordFor) {
  struct Case {
    const char* name;
    const char *from, *to;
    const char* message;
  };
  const Case cases[] = {
      {"pre", "embedding_norm = true", "embedding_norm = true\nnorm_position = \"pre\"",
       "model.norm_position = \"pre\" cannot be written as a BERT, which has a norm after each sum"},
      {"sines", "positions = \"learned\"\nmax_positions = 40", "positions = \"sinusoidal\"",
       "model.positions = \"sinusoidal\" cannot be written as a BERT, which has \"learned\" positions"},
      {"groups", "layers = 2", "layers = 2\ngroups = 1",
       "model.groups = 1 cannot be written as a BERT, which has parameters of its own in every block"},
      {"final", "embedding_norm = true", "embedding_norm = true\nfinal_norm = true",
       "model.final_norm = true cannot be written as a BERT, which has no other norm behind its last block"},
      {"narrow", "embedding_norm = true", "embedding_norm = true\nembedding_width = 4",
       "model.embedding_width = 4 cannot be written as a BERT, which has tables as wide as the model"},
      {"wide", "type = \"self_attention\"", "type = \"self_attention\"\nhead_size = 3",
       "model.layer.attention.head_size = 3 cannot be written as a BERT, which has heads of width / heads "
       "channels"},
      {"rotary", "type = \"self_attention\"", "type = \"rotary_attention\"",
       "model.layer.attention.type = \"rotary_attention\" cannot be written as a BERT, which has "
       "\"self_attention\" in this place"},
      {"rms", "block = [", "norm = \"rms_norm\"\nblock = [",
       "model.norm = \"rms_norm\" cannot be written as a BERT, which has \"layer_norm\""},
      {"scaled", "embedding_scale = \"none\"", "embedding_scale = \"sqrt_width\"",
       "model.embedding_scale = \"sqrt_width\" cannot be written as a BERT, which has an embedding that is "
       "not "
       "scaled (\"none\")"},
      {"chain", "type = \"linear\"", "type = \"crf\"",
       "(model.head.type = \"crf\") has no counterpart in BertForTokenClassification"},
      {"characters", "type = \"wordpiece\"\nvocab_size = 120\nlowercase = true",
       "type = \"character\"\nvocab_size = 300",
       "tokenizer.type = \"character\" cannot be written: a BERT has \"wordpiece\", a RoBERTa has "
       "\"byte_bpe\", a GPT-2 has \"byte_bpe\", a BART has \"byte_bpe\", a MarianMT has \"unigram\" and a T5 "
       "has \"unigram\""},
  };
  for (const auto& [name, from, to, message] : cases) {
    std::string text = bert_experiment(name);
    replace_first(text, from, to);
    replace_first(text, "epochs = 2", "epochs = 1");
    train(name, text);
    const std::string said = refusal_of({"export", name, "-o", "out"});
    EXPECT_TRUE(contains(said, message)) << said;
    EXPECT_TRUE(folders_with("out").empty()) << name;
  }
}

TEST_F(Export, RefusesAPlaceThatIsTaken) {
  train("bert", bert_experiment("bert"));
  sandbox_.write("full/file.txt", "of somebody");
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "full"}), "full is not empty; name a new folder"));
  sandbox_.write("file.txt", "of somebody");
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "file.txt"}),
                       "file.txt is not a folder; name a new folder"));
  EXPECT_TRUE(contains(refusal_of({"export", "bert"}), "exp export needs -o DIR, the folder to write"));
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "out", "--format", "pdf"}),
                       "invalid --format \"pdf\": expected huggingface, onnx or encore"));
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "out", "--format", "onnx", "--dtype", "float16"}),
                       "--dtype needs --format huggingface: the weights of an ONNX graph are float32"));
  EXPECT_TRUE(contains(refusal_of({"export", "bert", "-o", "out", "--external-data"}),
                       "--external-data needs --format onnx: the other formats have no size limit"));
  fs::create_directory(sandbox_.folder() / "empty");
  output_of({"export", "bert", "-o", "empty/"});
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "empty/config.json"));
}

/// What another program computes with the graph is compared in tests/system/peers/compare_onnx.py.
TEST_F(Export, WritesAGraphWithWhatItsNumbersMean) {
  train("bert", bert_experiment("bert"));
  const json answer = json::parse(output_of({"export", "bert", "--format", "onnx", "-o", "out", "--json"}));
  EXPECT_EQ(answer.at("weights_file"), "model.onnx");
  EXPECT_EQ(answer.at("weights_sha256"), sha256_of_file(sandbox_.folder() / "out/model.onnx"));
  EXPECT_EQ(answer.at("pipeline"), "token-classification");
  const json facts = json_in("out/model.json");
  EXPECT_EQ(facts.at("task"), "ner");
  EXPECT_EQ(facts.at("max_length"), 32);
  EXPECT_EQ(facts.at("inputs"), json::parse(R"({"input_ids": ["batch", "length"],
      "attention_mask": ["batch", "length"], "token_type_ids": ["batch", "length"]})"));
  EXPECT_EQ(facts.at("outputs").at("logits"), json({"batch", "length", facts.at("labels").size()}));
  EXPECT_EQ(facts.at("outputs").at("last_hidden_state"), json({"batch", "length", 16}));
  EXPECT_EQ(json_in("out/tokenizer_config.json").at("do_lower_case"), true);
  const std::string card = sandbox_.read("out/README.md");
  EXPECT_TRUE(card.starts_with("---\nlibrary_name: onnx\npipeline_tag: token-classification\n")) << card;
  EXPECT_TRUE(contains(card, "SHA-256 of model.onnx") && contains(card, "onnxruntime.InferenceSession(DIR"))
      << card;

  output_of({"export", "bert", "--format", "onnx", "-o", "again"});
  for (const std::string file : {"model.onnx", "model.json", "vocab.txt"})
    EXPECT_EQ(sandbox_.read("out/" + file), sandbox_.read("again/" + file)) << "equal bytes";
  const json beside = json::parse(
      output_of({"export", "bert", "--format", "onnx", "-o", "beside", "--external-data", "--json"}));
  EXPECT_EQ(beside.at("weights_file"), "model.onnx.data");
  EXPECT_EQ(beside.at("weights_sha256"), sha256_of_file(sandbox_.folder() / "beside/model.onnx.data"));
  EXPECT_LT(fs::file_size(sandbox_.folder() / "beside/model.onnx"),
            fs::file_size(sandbox_.folder() / "out/model.onnx"));
}

TEST_F(Export, APlanNamesWhatIsWrongWithAFolder) {
  train("bert", bert_experiment("bert"));
  output_of({"export", "bert", "-o", "out"});
  sandbox_.write("again.toml", restful_experiment("again", "out", "width = 32\n"));
  EXPECT_TRUE(
      contains(refusal_of({"plan", "again.toml"}), "again.toml:12:9: model.width = 32, but ") &&
      contains(refusal_of({"plan", "again.toml"}), "out/config.json says hidden_size = 16; leave it out"));
  sandbox_.write("again.toml", restful_experiment("again", "nowhere"));
  EXPECT_EQ(
      refusal_of({"plan", "again.toml"}),
      "again.toml:11:8: option \"from\" of [model]: " + (sandbox_.folder() / "nowhere").string() +
          " does not exist; a Hugging Face folder holds config.json, model.safetensors and vocab.txt\n");
  sandbox_.write("again.toml", restful_experiment("again", "out"));
  const json plan = json::parse(output_of({"plan", "again.toml", "--json"}));
  EXPECT_FALSE(plan.at("runs").at(0).at("question").get<std::string>().empty());
}

}  // namespace
}  // namespace encore::system_test
