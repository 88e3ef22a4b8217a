// SPDX-License-Identifier: BSD-3-Clause
// Describes one model in words, from the record of its run. ModelOrigin (model_origin.cpp) says where a model
// comes from: the kind of model, its initial weights, and its trained parts. Each word follows from a
// recorded setting. abstract.cpp, checklist_facts.cpp and model_card.cpp use these sentences, so that none of
// them assumes an encoder that is trained from random weights. model_card() (model_card.cpp) writes the model
// card of an exported run; `exp export` (cli/export_verb.cpp) calls it. The Hugging Face hub reads the head
// of the card, so its keys are fixed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "record/export_answer.hpp"
#include "store/store.hpp"

namespace encore::report {

/// The value of a run's setting by its key; null if the run has no such setting.
using SettingOf = std::function<nlohmann::json(const std::string& key)>;

struct ModelOrigin {
  std::string kind;          ///< "encoder", "decoder", "encoder with a decoder"
  bool is_trained = true;    ///< false: the weights are taken over unchanged (train.epochs = 0)
  std::string source;        ///< kind of `start`, in the plural: "folders"; empty: random weights
  std::string start;         ///< the folder, run or experiment by name; empty: random weights
  std::string teacher;       ///< "run base"; empty: the model has no teacher
  std::string predecessor;   ///< the run that this one retrains; empty: no run
  std::string restrictions;  ///< "with low-rank adapters of rank 8 on qkv"; empty: every parameter is trained

  /// Returns whether one sentence can describe both models, with their names listed.
  bool same_but_for_names(const ModelOrigin& other) const;
};

/// Returns the origin of the model of a run. `setting` returns its settings; the store has names of other
/// runs.
ModelOrigin model_origin(store::Store& store, const store::RunRow& run, const SettingOf& setting);

/// Returns "random weights", "the weights of run base" or "the weights of runs a, b and c", for origins that
/// are equal except for names.
std::string start_text(const std::vector<ModelOrigin>& origins);
/// Returns the parts of a sentence that follow the start, such as "learning from run base as teacher" and "to
/// replace run old".
std::vector<std::string> further_texts(const std::vector<ModelOrigin>& origins);

/// Returns the complete runs of the same question except for the seed, in the same numeric environment and
/// with the same plugin files, by seed: the basis of an interval. This run is one of them; of repeats with
/// one seed only one counts.
std::vector<store::RunRow> replicates_of(store::Store& store, const store::RunRow& run);
/// Returns the model card as Markdown, which `exp export` saves as README.md beside the weights: the
/// training, the scores with their uncertainty, and how to verify them. `model` says what the worker
/// exported.
std::string model_card(store::Store& store, const store::RunRow& run, const record::ExportAnswer& model);

}  // namespace encore::report
