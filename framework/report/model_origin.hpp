// SPDX-License-Identifier: BSD-3-Clause
// ModelOrigin says in words where a model comes from: the kind of model, its initial weights, and its trained
// parts. Each word follows from a recorded setting. abstract.cpp, checklist_facts.cpp and model_card.cpp use
// these sentences, so that none of them assumes an encoder that is trained from random weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

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

}  // namespace encore::report
