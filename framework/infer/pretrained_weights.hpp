// SPDX-License-Identifier: BSD-3-Clause
// Fills the parameters of a new model from a Hugging Face folder; PretrainedWeights names those it lacks.
// Place in the flow: Trainer calls it at step 0, where the experiment has `[model] from`; a resumed run has
// its checkpoint. Everything but the head must be in the folder, and every tensor of its body must be used.
// Read next: pretrained/family.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "record/specification.hpp"

namespace encore::infer {

struct PretrainedWeights {
  std::vector<std::string>
      fresh;         ///< parameters of the head or of adapters, which the folder lacks; they are unchanged
  std::string note;  ///< for the run's log: how many tensors were taken, and which are new or left
};

/// Returns the transposed elements of a matrix (rows, columns), as (columns, rows).
std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows, std::int64_t columns);

/// Returns whether a parameter, or a tensor with Encore's own names, belongs to the head, which a run may
/// initialize.
bool is_of_head(const std::string& path);

/// Returns the note `model.from: 39 tensors taken; head.bias is new; left: pooler.weight`. `source` follows
/// "model.from", unless it is empty.
std::string pretrained_note(const std::string& source, std::size_t taken,
                            const std::vector<std::string>& fresh, const std::vector<std::string>& left);

/// Fills the parameters of `model` that the folder has, each converted to the parameter's type. Throws Error
/// naming the file, and the parameter and the tensor, if a tensor of embedding or encoder is missing, left
/// over, of another shape or not of floating-point numbers. A tensor of the head of another shape (other
/// classes) is left.
PretrainedWeights load_pretrained(model::Model& model, const std::filesystem::path& folder);

}  // namespace encore::infer
