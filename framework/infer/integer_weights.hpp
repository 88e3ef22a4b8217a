// SPDX-License-Identifier: BSD-3-Clause
// The weights of a model with matrices as 8-bit or 4-bit integers, in a file of a run's folder. A matrix is a
// tensor of integers under the parameter's name, and its scales under that name with "/scales" after it. With
// 8 bits: (rows, C) integers, and a float32 for each row. With 4 bits: (rows, 16 * groups) bytes of two
// integers each, and a bfloat16 for each group of 32. All other tensors are unchanged. Users keep such files,
// so a change must still read old ones. Place in the flow: the worker's quantize writes it after
// quantization.cpp, run_weights.cpp reads it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "model/model.hpp"
#include "record/weights_file.hpp"

namespace encore::infer {

/// The bits (8 or 4) of each matrix that is stored as integers, by path.
using IntegerBits = std::map<std::string, int>;

/// Writes the model's parameters, those in `stored` as integers; values that are already rounded
/// (rounded_to_integers) are written unchanged. The model computes in memory of its own (Weights::copied).
record::SavedFile save_integer_weights(const std::filesystem::path& run_folder, const char* name,
                                       const model::Model& model, const IntegerBits& stored,
                                       record::WeightsFacts facts);

/// Fills the parameters from a file that has been checked, and makes products use the matrices that the file
/// lists for it (WeightsFacts::int8). Throws Error if the file belongs to another model.
void load_integer_weights(model::Model& model, const record::WeightsFile& file);

/// Returns the values that the integers of a matrix stand for: a model that has read the file computes with
/// them.
std::vector<float> rounded_to_integers(std::span<const float> values, std::int64_t columns, int bits);

}  // namespace encore::infer
