// SPDX-License-Identifier: BSD-3-Clause
// Functions that make the parts of a specification that training, evaluation and prediction share: typed
// experiment, plugins, data sets, tokenizer and model. Each function can fail with a message for the user, so
// the worker's check calls them without training. The worker's verbs, Session and Engine call them. The file
// names below are stored in folders of runs and must stay.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "config/error.hpp"
#include "config/experiment.hpp"
#include "data/batch_plan.hpp"
#include "model/model.hpp"
#include "plugin_host/registry.hpp"
#include "record/specification.hpp"
#include "tasks/task_sets.hpp"

namespace encore::infer {

/// The file of a run's folder with the tokens of the tokenizer.
inline constexpr const char* vocabulary_file = "vocab.txt";
/// The file with the knowledge of the task from the training set (Task::knowledge).
inline constexpr const char* knowledge_file = "labels.txt";
/// The file with data.max_length, if that is a share of the training set.
inline constexpr const char* max_length_file = "max_length.txt";
/// All files that give the rows of the parameters their meaning.
inline constexpr std::array meaning_files = {vocabulary_file, knowledge_file, max_length_file};

/// The experiment of a specification and the loaded plugins it needs.
struct LoadedExperiment {
  config::Experiment experiment;
  plugin_host::Registry registry;
};

/// Loads only the plugins the experiment names. Throws ConfigError with the dotted key, or Error.
LoadedExperiment load_experiment(const record::Specification& specification);

/// Sets the files of the data sets to those of the plan; they replace a folder.
void take_planned_files(config::DataTable& data, const record::Specification& specification);

/// A tokenizer, and the lines that its vocabulary was loaded from: tokens, and merges if there are any. With
/// vocabularies of both sides it is a TokenizerPair.
struct LoadedTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<std::string> lines;
  std::size_t targets = 0;  ///< tokens of the targets' own vocabulary; 0: both sides share one
};

/// Returns the tokenizer with its vocabulary: the run folder's `vocab.txt` if it exists, else the file
/// `inherited()` of the run that this one starts from, else the file that the option `vocab` names, else
/// trained from `text_counts(side)`, which is called only then. With [tokenizer.target] each side has a
/// tokenizer and a vocabulary of its own.
LoadedTokenizer load_tokenizer(const LoadedExperiment& loaded, const std::filesystem::path& run_folder,
                               const std::function<TextCounts(tasks::TextSide)>& text_counts,
                               const std::function<std::filesystem::path()>& inherited = {});

/// Returns the text of everything about the tokenizer, or those of both sides, that decides the tokens (the
/// key of the token cache).
std::string encoding_of(const config::Experiment& experiment, const plugin_host::Registry& registry,
                        const LoadedTokenizer& tokenizer, const record::Specification& specification);

/// Makes the task and the reader of an experiment. The registry must outlive them.
tasks::TaskParts make_task_parts(const config::Experiment& experiment, const plugin_host::Registry& registry);

/// Returns how batches are formed; `seed` decides the order of the training examples.
data::BatchOptions batch_options(const config::TrainTable& train, std::uint64_t seed = 0);

/// Returns the set with the examples that no batch may cut: those of `set`, or its sequences if the task
/// separates them. Rows and sequences, and so the outputs of a model, are numbered alike in both.
ExampleSet units_of(const Task& task, const ExampleSet& set);

/// Throws ConfigError if the target of every row of the set is the next token of its own text (column
/// "targets"), and the model sees that token: it would learn to copy it.
void require_unseen_targets(const config::ModelTable& model, const ExampleSet& set);

/// Returns the facts that a model needs about its task, which must have its knowledge, and about the
/// vocabulary. `targets`: LoadedTokenizer::targets.
model::ModelSize model_size(const Task& task, std::size_t vocabulary, std::size_t targets = 0);

/// Sets data.max_length, which was a share of the training set. Throws ConfigError if the model's table of
/// positions has fewer rows.
void take_max_length(config::Experiment& experiment, std::int64_t max_length);
/// Returns data.max_length of the run in this folder. Throws Error if the file is missing or damaged.
std::int64_t kept_max_length(const std::filesystem::path& run_folder);

/// Returns whether every development set has the measure that selects the best checkpoint.
bool always_there(const config::Selection& select, const std::vector<Measure>& measures);
/// Throws ConfigError if this development set lacks the measure that selects the best checkpoint (for example
/// a measure of a label without examples): no checkpoint would ever be chosen. The sets are encoded, by any
/// tokenizer.
void require_selectable(const config::Selection& select, const tasks::TaskSets& sets);
/// Throws ConfigError if the loss selects the best checkpoint, but depends on which examples are in one
/// batch.
void require_selectable(const config::Selection& select, const model::Model& model);
/// Throws Error if the task generates text and the model cannot, before anything is trained.
void require_generation(const Task& task, const model::Model& model);

/// Throws ConfigError if attention is to be kept and no layer of the model has any.
void require_attention(const config::TrainTable& train, const model::Model& model);

/// Returns the hashes of files with which a run was planned, by role.
tasks::ContentHashes content_hashes(const record::Specification& specification);

/// Calls `build`; an OptionError of it becomes a ConfigError with the dotted key of `table`.
template <class Build>
auto with_key(const config::PluginTable& table, Build build) -> decltype(build()) {
  try {
    return build();
  } catch (const OptionError& error) {
    throw config::ConfigError(table.key + "." + error.option(), error.what());
  }
}

}  // namespace encore::infer
