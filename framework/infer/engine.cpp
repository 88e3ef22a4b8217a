// SPDX-License-Identifier: BSD-3-Clause
// Implements Engine: loads a run's folder for forward passes, and plans memory again when a batch comes that
// does not fit. The worker's verbs (predict, evaluate, serve, embed and others) and the C library call it.
// The results must not depend on the memory that was planned. Read engine.hpp first; setup.cpp makes the
// parts, run_weights.cpp reads the weights.
#include "infer/engine.hpp"

#include <algorithm>

#include <encore/reads_windows.hpp>

#include "base/load_file.hpp"
#include "data/encode.hpp"
#include "data/largest_batch.hpp"
#include "infer/attention.hpp"

namespace encore::infer {
namespace {

record::Specification specification_of(const std::filesystem::path& run_folder,
                                       const std::vector<std::string>& plugin_folders) {
  record::Specification specification = record::Specification::load(run_folder);
  specification.plugin_folders = plugin_folders;
  return specification;
}

LoadedExperiment load_run(const record::Specification& specification,
                          const std::filesystem::path& run_folder) {
  LoadedExperiment loaded = load_experiment(specification);
  if (loaded.experiment.data.max_length == 0) take_max_length(loaded.experiment, kept_max_length(run_folder));
  return loaded;
}

/// Returns the vector of each text from those of its windows: the mean, weighted by own_tokens and added in
/// double in the order of the windows. The vector of a single window keeps its bits.
Vectors merged(const Vectors& windows, const EncodedTexts& texts) {
  Vectors merged{.width = windows.width};
  for (std::size_t i = 0; i < texts.set.size(); ++i) {
    const Run of = texts.set.sequences(i);
    if (of.count == 1) {
      const std::span<const float> one = windows[of.first];
      merged.values.insert(merged.values.end(), one.begin(), one.end());
      continue;
    }
    std::vector<double> sums(windows.width);
    double tokens = 0.0;
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      const auto own = static_cast<double>(texts.own_tokens[s]);
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += own * static_cast<double>(windows[s][c]);
      tokens += own;
    }
    for (const double sum : sums) merged.values.push_back(static_cast<float>(sum / tokens));
  }
  return merged;
}

}  // namespace

Engine::Engine(const std::filesystem::path& run_folder, const std::vector<std::string>& plugin_folders,
               const Device& device, Weights weights)
    : Engine(run_folder, specification_of(run_folder, plugin_folders), device, weights) {}

Engine::Engine(const std::filesystem::path& run_folder, const record::Specification& specification,
               const Device& device, Weights weights)
    : loaded_(load_run(specification, run_folder)),
      tokenizer_(load_tokenizer(loaded_, run_folder,
                                [&](tasks::TextSide) -> TextCounts {
                                  throw Error((run_folder / vocabulary_file).string() +
                                              " is missing, and the model was trained with it; put it back");
                                })),
      parts_(make_task_parts(loaded_.experiment, loaded_.registry)) {
  // The knowledge of a task is what it learned from the training set, such as its labels, as text.
  const std::string knowledge = load_text(run_folder / knowledge_file, "list of labels");
  tasks::with_file(run_folder / knowledge_file, [&] { parts_.task->restore(knowledge); });
  weights_ = std::make_unique<RunWeights>(run_folder, specification.question, weights);
  // Files that give the rows of parameters their meaning (setup.hpp), such as the vocabulary, must be
  // unchanged.
  for (const char* file : meaning_files) weights_->require_file(file);
  model_ = std::make_unique<model::Model>(
      loaded_.experiment, model_size(task(), tokenizer().vocabulary().size(), tokenizer_.targets),
      loaded_.registry, device, memory::Use::inference);
  step_ = weights_->load_into(*model_, host_threads());
  texts_ = text_generation(task(), tokenizer());
  parts_.task->use(weights_->tuned());
  model_->parameters()
      .refresh_copies();  // applies adapters, for callers that read the parameters before a pass
}

tasks::EncodedSet Engine::encode(const Records& records, int threads) const {
  return {data::encode_records(task(), records, tokenizer(), experiment().data.max_length, threads)};
}

void Engine::decode_by(const record::DecodingWishes& wishes) {
  if (!texts_)
    throw Error("the task \"" + experiment().task.type +
                "\" of this run measures no generated text, so there is nothing to decode");
  texts_->decoding = wishes.over(texts_->decoding);
  evaluator_.reset();
  scoring_evaluator_.reset();
}

void Engine::plan(const BatchSize& needed) {
  const model::StepPlan& planned = model_->evaluation_plan();
  if (planned.arena_bytes > 0 && planned.holds(needed)) return;
  BatchSize room = data::bucket_of(needed);
  for (RowSetSize* rows : {static_cast<RowSetSize*>(&room), &room.target})
    rows->longest = std::min(rows->longest, model_->max_length());
  evaluator_.reset();
  scoring_evaluator_.reset();
  embedder_.reset();
  model_->plan({}, data::at_least(planned.largest, data::at_least(needed, room)));
}

Evaluation Engine::run(const tasks::EncodedSet& set, const EvaluationWatch& watch) {
  return run(set, watch, Collected::usual);
}

Evaluation Engine::run(const tasks::EncodedSet& set, const EvaluationWatch& watch, Collected collected) {
  const data::BatchOptions options = batch_options(experiment().train);
  const ExampleSet units = units_of(task(), set.set);
  plan(data::largest_evaluation_batch(units, options, evaluation_order(*model_)));
  std::unique_ptr<Evaluator>& evaluator = collected == Collected::usual ? evaluator_ : scoring_evaluator_;
  if (!evaluator)
    evaluator = std::make_unique<Evaluator>(*model_, model_->evaluation_plan().largest, options, texts_,
                                            distributed::only_rank(), collected);
  return evaluator->run(units, watch);
}

Answered Engine::answer(const Records& records, const tasks::EncodedSet& set, Scores scores) {
  Answered answered;
  if (scores == Scores::without) {
    answered.outputs = run(set).outputs;
    answered.answers = task().answer(records, set.set, answered.outputs);
    return answered;
  }
  if (const std::string none = no_scores(); !none.empty()) throw Error(none);
  answered.outputs = run(set, {}, Collected::all).outputs;
  answered.answers = task().scored_answer(records, set.set, answered.outputs);
  return answered;
}

std::string Engine::no_scores() const {
  const std::string none = task().no_scores(model_->outputs());
  if (none.empty()) return {};
  return "the task \"" + experiment().task.type + "\" with the head \"" + experiment().model.head.type +
         "\" gives no scores: " + none;
}

double Engine::loss(const tasks::EncodedSet& set) {
  const data::BatchOptions options = batch_options(experiment().train);
  const ExampleSet units = units_of(task(), set.set);
  plan(data::largest_evaluation_batch(units, options, evaluation_order(*model_)));
  return Evaluator(*model_, model_->evaluation_plan().largest, options).run(units).loss;
}

std::vector<record::AttentionText> Engine::attention(const tasks::EncodedSet& set,
                                                     const record::AttentionChoice& choice) {
  const ExampleSet single = set.set.by_sequence();
  plan(data::largest_evaluation_batch(single, {.batch_size = 1}, data::EvaluationOrder::as_stored));
  std::vector<record::AttentionText> texts;
  for (std::size_t sequence = 0; sequence < single.size(); ++sequence)
    texts.push_back(attended(*model_, tokenizer(), single, sequence, choice));
  return texts;
}

std::vector<double> Engine::cross_attention(const tasks::EncodedSet& set, std::size_t sequence) {
  const ExampleSet single = set.set.by_sequence();
  plan(data::largest_evaluation_batch(single, {.batch_size = 1}, data::EvaluationOrder::as_stored));
  return mean_cross_attention(*model_, single, sequence);
}

// --- vectors ---

tasks::InputUse EncodedTexts::use(std::size_t input) const {
  tasks::InputUse use{.windows = set.sequences(input).count};
  if (const std::size_t cut = cut_tokens[input]; cut > 0)
    use.left_out =
        "its vector does not depend on its last " + std::to_string(cut) + (cut == 1 ? " token" : " tokens");
  return use;
}

std::int64_t EncodedTexts::tokens(std::size_t input) const {
  std::int64_t tokens = 0;
  const Run of = set.sequences(input);
  for (std::size_t s = of.first; s < of.first + of.count; ++s)
    tokens += static_cast<std::int64_t>(set.ids(s).size());
  return tokens;
}

EncodedTexts Engine::encode_texts(std::span<const std::string> texts) const {
  if (const std::string none = no_vectors(); !none.empty()) throw Error(none);
  struct Arrays {
    std::vector<std::int32_t> lengths, ids, sequences;
  };
  const auto arrays = std::make_shared<Arrays>();
  const auto* reads = dynamic_cast<const ReadsWindows*>(&task());
  const std::size_t stride = reads == nullptr ? 0 : reads->stride_of_vectors();
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(experiment().data.max_length - 2, 0));
  EncodedTexts encoded;
  for (const std::string& text : texts) {
    std::vector<std::int32_t> tokens;
    tokenizer().encode(text, tokens);
    if (tokens.empty()) throw Error("the text \"" + text + "\" has no tokens, so it has no vector");
    const std::size_t kept = stride > 0 ? tokens.size() : std::min(tokens.size(), room);
    const std::vector<TextWindow> windows =
        stride > 0 ? windows_of(kept, room, stride) : std::vector<TextWindow>{{.first = 0, .count = kept}};
    for (const TextWindow& window : windows) {
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(window.first);
      arrays->ids.push_back(tokenizer().special(Special::start));
      arrays->ids.insert(arrays->ids.end(), begin, begin + static_cast<std::ptrdiff_t>(window.count));
      arrays->ids.push_back(tokenizer().special(Special::end));
      arrays->lengths.push_back(static_cast<std::int32_t>(window.count + 2));
    }
    for (const std::size_t own : own_tokens(windows)) encoded.own_tokens.push_back(own);
    encoded.cut_tokens.push_back(tokens.size() - kept);
    arrays->sequences.push_back(static_cast<std::int32_t>(windows.size()));
  }
  encoded.set = {{.lengths = arrays->lengths, .ids = arrays->ids, .sequences = arrays->sequences}, arrays};
  return encoded;
}

std::string Engine::no_vectors() const {
  if (!experiment().model.causal) return {};
  return "this run is a decoder without an encoder (model.causal): its states do not depend on the words "
         "behind them, so they are not vectors of whole inputs; name a run with an encoder";
}

std::string Engine::no_writing() const try {
  model_->require_generation();
  return {};
} catch (const Error& error) {
  return error.what();
}

Vectors Engine::embed(const EncodedTexts& texts) {
  const ExampleSet windows = texts.set.by_sequence();
  const data::BatchOptions options = batch_options(experiment().train);
  plan(data::largest_evaluation_batch(windows, options, data::EvaluationOrder::by_length));
  if (!embedder_)
    embedder_ = std::make_unique<Embedder>(*model_, model_->evaluation_plan().largest, options,
                                           static_cast<std::size_t>(experiment().model.width));
  Vectors of_windows = embedder_->run(windows);
  if (windows.size() == texts.set.size()) return of_windows;  // not copied
  return merged(of_windows, texts);
}

}  // namespace encore::infer
