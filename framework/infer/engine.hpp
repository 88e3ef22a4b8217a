// SPDX-License-Identifier: BSD-3-Clause
// Engine is a run's best model, loaded from the run's folder for forward passes only: no gradients, no
// optimizer, no training plan, and memory only for the batches that come. Place in the flow: the worker's
// verbs (predict, evaluate, serve, embed) and library/ use it. It reads the files of training:
// specification.json, vocab.txt, labels.txt, weights.safetensors (without it checkpoints/ and the spools).
// Folders of older runs have these files, so their names must stay.
//
//   Engine engine(run_folder, plugin_folders, device);
//   const EncodedSet set = engine.encode(engine.task().from_text(lines));
//   const Outputs outputs = engine.run(set).outputs;
#pragma once

#include <cstdint>
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
#include "infer/setup.hpp"
#include "infer/vectors.hpp"
#include "record/attention.hpp"
#include "record/generate_request.hpp"
#include "tasks/input_use.hpp"

namespace encore::infer {

/// Says whether answers come with probabilities, as `exp predict --scores` requests. worker/verbs.hpp
/// declares this type again, so that it need not include the Engine.
enum class Scores : std::uint8_t { without, with };

/// The answers of the task to a list of records.
struct Answered {
  Outputs outputs;
  Records answers;
};

/// Inputs as the encoder reads them, for every task.
struct EncodedTexts {
  ExampleSet set;                            ///< an example for each input, of one sequence for each window
  std::vector<std::size_t> own_tokens = {};  ///< of each window (own_tokens of the SDK)
  std::vector<std::size_t> cut_tokens = {};  ///< of each input: tokens at its end that are not read

  /// Returns how an input was read.
  tasks::InputUse use(std::size_t input) const;
  /// Returns the number of tokens of an input that the model reads, with markers and those that windows
  /// share.
  std::int64_t tokens(std::size_t input) const;
};

class Engine {
 public:
  /// Plugins are searched only in `plugin_folders`, not in the folders that the specification names. Throws
  /// Error if the folder has no complete parameters yet, or if the vocabulary or the labels are not those of
  /// the run.
  Engine(const std::filesystem::path& run_folder, const std::vector<std::string>& plugin_folders,
         const Device& device, Weights weights = Weights::chosen);

  const config::Experiment& experiment() const { return loaded_.experiment; }
  const plugin_host::Registry& registry() const { return loaded_.registry; }
  const Tokenizer& tokenizer() const { return *tokenizer_.tokenizer; }
  /// Returns the lines of the tokenizer's vocabulary file.
  const std::vector<std::string>& vocabulary_lines() const { return tokenizer_.lines; }
  const model::Model& model() const { return *model_; }
  model::Model& model() { return *model_; }
  const Task& task() const { return *parts_.task; }
  const Reader& reader() const { return *parts_.reader; }
  /// Returns the fields of records that the task reads.
  const TaskFields& fields() const { return parts_.fields; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  /// Passes records to Task::extend before they are encoded and scored.
  void extend(const Records& records) { parts_.task->extend(records); }
  /// Returns the step after which the parameters were saved.
  std::int64_t step() const { return step_; }
  /// Returns what the task tuned on the development set with these parameters (Task::tune), such as a
  /// threshold; "": nothing.
  const std::string& tuned() const { return weights_->tuned(); }
  /// Returns the SHA-256 of the parameters: equal parameters have equal digests, from any kind of file.
  std::string digest() const { return weights_->digest(); }
  /// Returns notes for the user on how the model was loaded, such as a damaged file that was skipped.
  const std::vector<std::string>& notes() const { return weights_->notes(); }

  /// Makes answers independent of their batch; call it before the first pass. The bits of an answer then do
  /// not depend on the other inputs of its batch, and short inputs are faster. It is meant for answers to
  /// users, not for scores that are compared with those of training, because products are rounded in another
  /// way (Model::make_batch_invariant).
  void make_batch_invariant() { model_->make_batch_invariant(); }

  /// Encodes records with this model's task and tokenizer.
  tasks::EncodedSet encode(const Records& records, int threads = 1) const;
  /// Makes run() generate text with these settings instead of those of the task. Throws Error if the task
  /// does not measure generated text.
  void decode_by(const record::DecodingWishes& wishes);
  /// Returns the outputs and the loss of a set (Evaluator::run). Memory grows with the largest batch so far,
  /// in steps (bucket_of): a batch of a known bucket allocates nothing for its pass. The results do not
  /// depend on it.
  Evaluation run(const tasks::EncodedSet& set, const EvaluationWatch& watch = {});
  /// Returns the answers of the task to `records`, which were encoded as `set`. With scores
  /// (Task::scored_answer) the engine keeps a second copy of the batch's memory from then on; throws Error
  /// with the reason if no_scores() is not empty.
  Answered answer(const Records& records, const tasks::EncodedSet& set, Scores scores);
  /// Returns why the task with this head has no probabilities of its answers; "" if it has them.
  std::string no_scores() const;
  /// Returns only the loss of a set whose truth is known; generates no text.
  double loss(const tasks::EncodedSet& set);
  /// Generates text for each sequence of the set, for any task; `required` as in Generator::run. Throws Error
  /// if the model cannot generate.
  std::vector<std::vector<GeneratedText>> generate(const tasks::EncodedSet& set, const Decoding& decoding,
                                                   const Generator::Seen& seen = {},
                                                   Generator::Required required = {}) {
    return Generator(*model_, tokenizer()).run(set.set, decoding, seen, {}, required);
  }
  /// Returns the inputs of embed(): [CLS], the tokens of the text, [SEP]. A text that is longer than
  /// data.max_length becomes several windows if the task makes them (ReadsWindows); otherwise it is
  /// cut at its end. Throws Error if no_vectors() is not empty, and for a text without tokens.
  EncodedTexts encode_texts(std::span<const std::string> texts) const;
  /// Returns why the model has no embeddings of inputs; "" if it has them.
  std::string no_vectors() const;
  /// Returns why the model cannot generate; "" if it can.
  std::string no_writing() const;
  /// Returns for each text the mean of the encoder's last states over its rows: its tokens between the
  /// markers [CLS] and [SEP]; the same for every task. The vector of a text in windows is the mean of those
  /// of its windows, weighted by the tokens that count for each. Throws Error for a decoder without encoder,
  /// and for a text without tokens.
  Vectors embed(std::span<const std::string> texts) { return embed(encode_texts(texts)); }
  Vectors embed(const EncodedTexts& texts);
  /// Returns the attention weights of the model in each sequence of a set (infer/attention.hpp).
  std::vector<record::AttentionText> attention(const tasks::EncodedSet& set,
                                               const record::AttentionChoice& choice);
  /// Returns the weights with which the decoder attends to the source in one sequence of a set whose targets
  /// are known: (rows of the target, rows of the source), the mean of all layers and heads. Empty if no layer
  /// has such weights.
  std::vector<double> cross_attention(const tasks::EncodedSet& set, std::size_t sequence);

 private:
  /// Allocates memory for batches of this size and of its bucket, unless it has been allocated.
  void plan(const BatchSize& needed);
  Evaluation run(const tasks::EncodedSet& set, const EvaluationWatch& watch, Collected collected);

  Engine(const std::filesystem::path& run_folder, const record::Specification& specification,
         const Device& device, Weights weights);

  LoadedExperiment loaded_;
  LoadedTokenizer tokenizer_;
  tasks::TaskParts parts_;
  std::unique_ptr<RunWeights> weights_;  ///< must outlive the model, whose parameters may lie in its file
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<Evaluator> evaluator_;          ///< a new plan makes this and the next two again
  std::unique_ptr<Evaluator> scoring_evaluator_;  ///< collects outputs that the head gives on request
  std::unique_ptr<Embedder> embedder_;
  std::optional<TextGeneration> texts_;  ///< the decoding that run() uses
  std::int64_t step_ = 0;
};

}  // namespace encore::infer
