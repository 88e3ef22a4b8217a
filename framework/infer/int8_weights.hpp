// The weights of a model with matrices as 8-bit integers, into a file of a run's folder and back. A matrix is
// a tensor of integers (rows, C) under the parameter's name, and a float32 scale for each row under that name
// with "/scales" behind it; everything else stands there as it is. Place in the flow: the worker's quantize
// writes it after quantization.cpp, run_weights.cpp reads it.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "model/model.hpp"
#include "record/weights_file.hpp"

namespace encore {

/// Writes the model's parameters, those named in `stored` as integers: what has been rounded already
/// (rounded_to_int8) is written as it is. The model computes in memory of its own (Weights::copied).
SavedFile save_int8_weights(const std::filesystem::path& run_folder, const Model& model,
                            const std::set<std::string>& stored, WeightsFacts facts);

/// Fills the parameters from a file that is whole, and has products computed by facts().int8. Throws Error
/// where the file is not of this model.
void load_int8_weights(Model& model, const WeightsFile& file);

/// The values of a matrix that the integers stand for: what a model that has read the file computes with.
std::vector<float> rounded_to_int8(std::span<const float> values, std::int64_t columns);

}  // namespace encore
