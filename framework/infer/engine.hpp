// Engine: a run's best model, loaded for forward passes only, from nothing but the run's folder: no
// gradients, no optimizer, no training plan, and memory for the batches that come, no more. Place in the
// flow: the worker's evaluate and predict; what it reads is what training wrote: specification.json,
// vocab.txt, labels.txt, weights.safetensors (without it checkpoints/ and the spools).
//
//   Engine engine(run_folder, plugin_folders, device);
//   const EncodedSet set = engine.encode(engine.task().from_text(lines));
//   const Outputs outputs = engine.run(set).outputs;
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>

#include "infer/embedder.hpp"
#include "infer/evaluator.hpp"
#include "infer/generator.hpp"
#include "infer/run_weights.hpp"
#include "infer/scores.hpp"
#include "infer/setup.hpp"
#include "infer/vectors.hpp"
#include "record/attention.hpp"
#include "record/generate_request.hpp"

namespace encore {

/// What the task answers to records.
struct Answered {
  Outputs outputs;
  Records answers;
};

/// Texts as the encoder reads them, whatever the task is.
struct EncodedTexts {
  ExampleSet set;
  std::vector<std::size_t> cut;  ///< numbers of the texts that are longer than data.max_length lets in
};

class Engine {
 public:
  /// Plugins are searched in `plugin_folders`, whatever the specification names. Throws Error when the folder
  /// holds no whole parameters yet, and when the vocabulary or the labels are not those of the run.
  Engine(const std::filesystem::path& run_folder, const std::vector<std::string>& plugin_folders,
         const Device& device, Weights weights = Weights::chosen);

  const Experiment& experiment() const { return loaded_.experiment; }
  const Tokenizer& tokenizer() const { return *tokenizer_.tokenizer; }
  /// What its vocabulary file holds.
  const std::vector<std::string>& vocabulary_lines() const { return tokenizer_.lines; }
  const Model& model() const { return *model_; }
  Model& model() { return *model_; }
  const Task& task() const { return *parts_.task; }
  const Reader& reader() const { return *parts_.reader; }
  /// The fields of records that the task reads.
  const TaskFields& fields() const { return parts_.fields; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  /// Takes note of records that are about to be encoded and scored.
  void extend(const Records& records) { parts_.task->extend(records); }
  /// After which the parameters were taken.
  std::int64_t step() const { return step_; }
  /// What the task chose by them on the development set; "": nothing.
  const std::string& tuned() const { return weights_->tuned(); }
  /// SHA-256 of the parameters: equal for equal ones, whichever file they came from.
  std::string digest() const { return weights_->digest(); }
  /// What a user should know of how it was loaded: a damaged file that was passed over.
  const std::vector<std::string>& notes() const { return weights_->notes(); }

  /// Before the first pass: a text has the same bits whatever texts are computed with it, and short texts
  /// are faster. For answers to users; scores that are held against those of training are not made so, since
  /// products are rounded otherwise (Model::make_batch_invariant).
  void make_batch_invariant() { model_->make_batch_invariant(); }

  /// Records as this model's task and tokenizer encode them.
  EncodedSet encode(const Records& records, int threads = 1) const;
  /// From now on run() has texts written this way, in place of the task's own. Throws Error where the task
  /// measures by no such texts.
  void decode_by(const DecodingWishes& wishes);
  /// Memory grows with the largest batch so far, in steps (bucket_of): a batch of a bucket that was seen
  /// takes none for its pass. The results do not depend on it.
  Evaluation run(const EncodedSet& set, const EvaluationWatch& watch = {});
  /// What the task answers to `records`, of which `set` was encoded; with scores as Task::scored_answer has
  /// it, which takes a second copy of the batch's memory from then on. Throws Error with no_scores().
  Answered answer(const Records& records, const EncodedSet& set, Scores scores);
  /// Why the task with this head has no probabilities of its answers; "": it has.
  std::string no_scores() const;
  /// The loss alone of a set whose truth is known: no text is written for it.
  double loss(const EncodedSet& set);
  /// Texts that the model writes, by sequence, whatever the task does with such. Throws Error where the model
  /// is no model of texts.
  std::vector<std::vector<GeneratedText>> generate(const EncodedSet& set, const Decoding& decoding,
                                                   const Generator::Seen& seen = {}) {
    return Generator(*model_, tokenizer()).run(set.set, decoding, seen);
  }
  /// Texts for embed: [CLS], the tokens of the text, [SEP]. Throws Error with no_vectors(), and for a text
  /// without tokens.
  EncodedTexts encode_texts(std::span<const std::string> texts) const;
  /// Why embed has nothing to say, whatever the text is; "": it has.
  std::string no_vectors() const;
  /// Why generate writes nothing, whatever the prompt is; "": it writes.
  std::string no_writing() const;
  /// For each text the mean of the encoder's last states over its rows, which are its tokens between the
  /// markers [CLS] and [SEP], as many as data.max_length lets in; whatever the task is. Throws Error for a
  /// decoder without encoder, and for a text without tokens.
  Vectors embed(std::span<const std::string> texts) { return embed(encode_texts(texts).set); }
  /// The same of encode_texts(...).set.
  Vectors embed(const ExampleSet& texts);
  /// What the model attends to in each sequence of a set (infer/attention.hpp).
  std::vector<AttentionText> attention(const EncodedSet& set, const AttentionChoice& choice);

 private:
  /// Room for such batches and for all of their bucket; nothing where it is there.
  void plan(const BatchSize& needed);
  Evaluation run(const EncodedSet& set, const EvaluationWatch& watch, Collected collected);

  Engine(const std::filesystem::path& run_folder, const Specification& specification, const Device& device,
         Weights weights);

  LoadedExperiment loaded_;
  LoadedTokenizer tokenizer_;
  TaskParts parts_;
  std::unique_ptr<RunWeights> weights_;  ///< the model's parameters may lie in its file
  std::unique_ptr<Model> model_;
  std::unique_ptr<Evaluator> evaluator_;          ///< this and the next two are made anew with the plan
  std::unique_ptr<Evaluator> scoring_evaluator_;  ///< collects what the head gives on request
  std::unique_ptr<Embedder> embedder_;
  std::optional<TextGeneration> texts_;  ///< what run() has written
  std::int64_t step_ = 0;
};

}  // namespace encore
