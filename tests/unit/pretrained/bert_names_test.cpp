// SPDX-License-Identifier: BSD-3-Clause
// Tests the names of the tensors of BERT, DistilBERT and RoBERTa in a model.safetensors
// (pretrained/bert_names.hpp): those that versions of `transformers` write for each model and kind of head,
// and the names of the same parameters in Encore. Neither side may change: `transformers` fixes the one, and
// stored checkpoints have the other.
#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "pretrained/family.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::pretrained {
namespace {

using Names = std::vector<std::string>;

Names names_of(const std::vector<FamilyTensor>& tensors) {
  Names names;
  for (const FamilyTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

Names bert_tensors_of(const std::string& path, PretrainedHead head) {
  return names_of(bert_family.tensors_of(path, head));
}

/// A file with these tensors: tensors_of() returns the names in it for a parameter.
class FileOf {
 public:
  explicit FileOf(const Names& names) : names_(bert_family, names) {}
  Names tensors_of(const std::string& path, PretrainedHead head) const {
    return names_of(names_.tensors_of(path, head));
  }

 private:
  FolderNames names_;
};

TEST(BertNames, EmbeddingAndBlocks) {
  const auto tensors = [](const char* path) { return bert_tensors_of(path, PretrainedHead::none); };
  EXPECT_EQ(tensors("embedding.tokens"), Names{"bert.embeddings.word_embeddings.weight"});
  EXPECT_EQ(tensors("embedding.positions"), Names{"bert.embeddings.position_embeddings.weight"});
  EXPECT_EQ(tensors("embedding.segments"), Names{"bert.embeddings.token_type_embeddings.weight"});
  EXPECT_EQ(tensors("embedding.norm.gain"), Names{"bert.embeddings.LayerNorm.weight"});
  EXPECT_EQ(tensors("encoder.3.attention.qkv.weight"),
            (Names{"bert.encoder.layer.3.attention.self.query.weight",
                   "bert.encoder.layer.3.attention.self.key.weight",
                   "bert.encoder.layer.3.attention.self.value.weight"}));
  EXPECT_EQ(tensors("encoder.11.attention.qkv.bias")[2], "bert.encoder.layer.11.attention.self.value.bias");
  EXPECT_EQ(tensors("encoder.0.attention.out.bias"),
            Names{"bert.encoder.layer.0.attention.output.dense.bias"});
  EXPECT_EQ(tensors("encoder.0.attention.norm.gain"),
            Names{"bert.encoder.layer.0.attention.output.LayerNorm.weight"});
  EXPECT_EQ(tensors("encoder.0.feed_forward.up.weight"),
            Names{"bert.encoder.layer.0.intermediate.dense.weight"});
  EXPECT_EQ(tensors("encoder.0.feed_forward.down.weight"), Names{"bert.encoder.layer.0.output.dense.weight"});
  EXPECT_EQ(tensors("encoder.0.feed_forward.norm.bias"), Names{"bert.encoder.layer.0.output.LayerNorm.bias"});
  for (const char* path : {"encoder.norm.gain", "encoder.0.carry.weight", "encoder.x.attention.out.bias",
                           "head.weight", "decoder.0.attention.out.bias", "encoder.", ""})
    EXPECT_TRUE(tensors(path).empty()) << path;
}

TEST(BertNames, OfARobertaAreFoundAndWritten) {
  const auto there_and_back = [](const std::string& name, bool pooled) {
    const std::string spelling = roberta_family.first_spelling(name);
    EXPECT_EQ(roberta_family.written_spelling(spelling, pooled), name);
    return spelling;
  };
  EXPECT_EQ(there_and_back("roberta.encoder.layer.3.output.dense.bias", false),
            "bert.encoder.layer.3.output.dense.bias");
  EXPECT_EQ(there_and_back("roberta.embeddings.word_embeddings.weight", true),
            "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(there_and_back("classifier.weight", false), "classifier.weight");
  EXPECT_EQ(there_and_back("classifier.out_proj.weight", true), "classifier.weight");
  EXPECT_EQ(there_and_back("classifier.dense.bias", true), "bert.pooler.dense.bias");
  EXPECT_EQ(there_and_back("qa_outputs.bias", false), "qa_outputs.bias");
  EXPECT_EQ(there_and_back("lm_head.bias", false), "cls.predictions.bias");
  EXPECT_EQ(there_and_back("lm_head.dense.weight", false), "cls.predictions.transform.dense.weight");
  EXPECT_EQ(there_and_back("lm_head.layer_norm.bias", false), "cls.predictions.transform.LayerNorm.bias");
  EXPECT_EQ(roberta_family.first_spelling("encoder.layer.0.output.dense.bias"),
            "bert.encoder.layer.0.output.dense.bias");
  EXPECT_EQ(roberta_family.first_spelling("pooler.dense.bias"), "pooler.dense.bias");
}

TEST(BertNames, TensorsOfAHeadAreCalledAfterWhatItComputes) {
  EXPECT_EQ(bert_tensors_of("head.weight", PretrainedHead::classes), Names{"classifier.weight"});
  EXPECT_EQ(bert_tensors_of("head.pooler.bias", PretrainedHead::classes), Names{"bert.pooler.dense.bias"});
  EXPECT_EQ(bert_tensors_of("head.weight", PretrainedHead::spans), Names{"qa_outputs.weight"});
  EXPECT_EQ(bert_tensors_of("head.bias", PretrainedHead::language_model), Names{"cls.predictions.bias"});
  EXPECT_EQ(bert_tensors_of("head.transform.weight", PretrainedHead::language_model),
            Names{"cls.predictions.transform.dense.weight"});
  EXPECT_EQ(bert_tensors_of("head.norm.gain", PretrainedHead::language_model),
            Names{"cls.predictions.transform.LayerNorm.weight"});
  EXPECT_TRUE(bert_tensors_of("head.transitions", PretrainedHead::classes).empty());
}

/// The kind of a head follows from its declaration.
TEST(BertNames, TheKindOfAHeadFollowsFromItsDeclaration) {
  HeadPlan classifier(8);
  classifier.read(Space::tokens);
  classifier.add_loss(classifier.column("targets", Space::tokens));
  EXPECT_EQ(pretrained_head_of(classifier), PretrainedHead::none);
  classifier.matrix("weight", 3, 8);
  classifier.output("classes", Space::tokens);
  EXPECT_EQ(pretrained_head_of(classifier), PretrainedHead::classes);

  HeadPlan spans(8);
  spans.read(Space::tokens);
  spans.add_loss(spans.column("start", Space::sequences));
  spans.matrix("weight", 2, 8);
  spans.output("spans", Space::tokens, ColumnType::numbers, 2);
  EXPECT_EQ(pretrained_head_of(spans), PretrainedHead::spans);

  HeadPlan model(8);
  model.read(Space::picked);
  model.add_loss(model.column("targets", Space::picked));
  model.tie("table", "embedding.tokens", {11, 8});
  model.matrix("transform.weight", 8, 8);
  EXPECT_EQ(pretrained_head_of(model), PretrainedHead::language_model);
}

TEST(BertNames, EverySpellingMeansTheSame) {
  const auto expect = [](const char* name, const char* spelling) {
    EXPECT_EQ(bert_family.first_spelling(name), spelling);
  };
  expect("bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.weight");
  expect("embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.weight");
  expect("bert.embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight");
  expect("encoder.layer.2.output.LayerNorm.beta", "bert.encoder.layer.2.output.LayerNorm.bias");
  expect("pooler.dense.weight", "bert.pooler.dense.weight");
  expect("classifier.weight", "classifier.weight");
  expect("cls.predictions.transform.LayerNorm.gamma", "cls.predictions.transform.LayerNorm.weight");
  for (const std::string prefix : {"", "distilbert."}) {
    const auto expect_distil = [&](const char* name, const char* spelling) {
      EXPECT_EQ(bert_family.first_spelling(prefix + name), spelling);
    };
    expect_distil("embeddings.word_embeddings.weight", "bert.embeddings.word_embeddings.weight");
    expect_distil("transformer.layer.0.attention.q_lin.weight",
                  "bert.encoder.layer.0.attention.self.query.weight");
    expect_distil("transformer.layer.0.attention.k_lin.bias", "bert.encoder.layer.0.attention.self.key.bias");
    expect_distil("transformer.layer.5.attention.v_lin.bias",
                  "bert.encoder.layer.5.attention.self.value.bias");
    expect_distil("transformer.layer.5.attention.out_lin.bias",
                  "bert.encoder.layer.5.attention.output.dense.bias");
    expect_distil("transformer.layer.5.sa_layer_norm.weight",
                  "bert.encoder.layer.5.attention.output.LayerNorm.weight");
    expect_distil("transformer.layer.5.ffn.lin1.weight", "bert.encoder.layer.5.intermediate.dense.weight");
    expect_distil("transformer.layer.5.ffn.lin2.bias", "bert.encoder.layer.5.output.dense.bias");
    expect_distil("transformer.layer.5.output_layer_norm.bias", "bert.encoder.layer.5.output.LayerNorm.bias");
  }
  expect("vocab_transform.weight", "cls.predictions.transform.dense.weight");
  expect("vocab_layer_norm.bias", "cls.predictions.transform.LayerNorm.bias");
  expect("vocab_projector.bias", "cls.predictions.decoder.bias");
  expect("something.else", "something.else");
}

TEST(BertNames, BuffersAreNotWeights) {
  EXPECT_TRUE(bert_family.is_buffer(bert_family.first_spelling("embeddings.position_ids")));
  EXPECT_FALSE(bert_family.is_of_body(bert_family.first_spelling("embeddings.position_ids")));
  EXPECT_TRUE(bert_family.is_of_body(bert_family.first_spelling("encoder.layer.6.output.dense.bias")));
  EXPECT_FALSE(bert_family.is_of_body(bert_family.first_spelling("pooler.dense.bias")));
  EXPECT_FALSE(bert_family.is_of_body("classifier.bias"));
}

TEST(BertNames, AnswersInTheSpellingOfTheFile) {
  const FileOf names({"embeddings.LayerNorm.gamma", "distilbert.transformer.layer.0.attention.q_lin.weight",
                      "cls.predictions.decoder.bias"});
  EXPECT_EQ(names.tensors_of("embedding.norm.gain", PretrainedHead::none),
            Names{"embeddings.LayerNorm.gamma"});
  EXPECT_EQ(names.tensors_of("encoder.0.attention.qkv.weight", PretrainedHead::none),
            (Names{"distilbert.transformer.layer.0.attention.q_lin.weight",
                   "bert.encoder.layer.0.attention.self.key.weight",
                   "bert.encoder.layer.0.attention.self.value.weight"}));
  EXPECT_EQ(names.tensors_of("head.bias", PretrainedHead::language_model),
            Names{"cls.predictions.decoder.bias"});
}

TEST(BertNames, AClassifierWithAnotherLayerBeforeItIsNotLoaded) {
  const FileOf names({"pre_classifier.weight", "pre_classifier.bias", "classifier.weight"});
  EXPECT_EQ(names.tensors_of("head.pooler.weight", PretrainedHead::classes),
            Names{"bert.pooler.dense.weight"});
  EXPECT_EQ(FileOf({"classifier.weight"}).tensors_of("head.weight", PretrainedHead::classes),
            Names{"classifier.weight"});
}

TEST(BertNames, RefusesTwoTensorsForOneParameter) {
  EXPECT_EQ(testing::message_of<Error>([] {
              FileOf({"bert.embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma"});
            }),
            "tensors \"bert.embeddings.LayerNorm.weight\" and \"embeddings.LayerNorm.gamma\" are the same of "
            "BERT's");
}

}  // namespace
}  // namespace encore::pretrained
