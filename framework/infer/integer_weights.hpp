// The weights of a model with matrices as 8-bit or 4-bit integers, into a file of a run's folder and back. A
// matrix is a tensor of integers under the parameter's name, and their scales under that name with "/scales"
// behind it: of 8 bits (rows, C), and a float32 for each row; of 4 bits (rows, 16 groups), two in a byte, and
// a bfloat16 for each group of
// 32. Everything else stands there as it is. Place in the flow: the worker's quantize writes it after
// quantization.cpp, run_weights.cpp reads it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "model/model.hpp"
#include "record/weights_file.hpp"

namespace encore {

/// Bits of matrices that are stored as integers, by path: 8 or 4.
using IntegerBits = std::map<std::string, int>;

/// Writes the model's parameters, those in `stored` as integers: what has been rounded already
/// (rounded_to_integers) is written as it is. The model computes in memory of its own (Weights::copied).
SavedFile save_integer_weights(const std::filesystem::path& run_folder, const char* name, const Model& model,
                               const IntegerBits& stored, WeightsFacts facts);

/// Fills the parameters from a file that is whole, and has products computed by facts().int8. Throws Error
/// where the file is not of this model.
void load_integer_weights(Model& model, const WeightsFile& file);

/// The values of a matrix that the integers stand for: what a model that has read the file computes with.
std::vector<float> rounded_to_integers(std::span<const float> values, std::int64_t columns, int bits);

}  // namespace encore
