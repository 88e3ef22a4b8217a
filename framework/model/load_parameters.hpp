// SPDX-License-Identifier: BSD-3-Clause
// load() fills the parameters of a model from named tensors in host memory through a map of names. infer/ and
// train/ load files of our own, whose tensors have the names and shapes of the parameters (same_name); so
// paths of parameters are part of a stored format. A pretrained model (infer/pretrained_weights.cpp) brings a
// map that says, for each parameter, of which rows of which tensors its values consist.
//
//   const Loaded loaded = load(device, parameters, parameters.values(), file.tensors(), same_name);
//   require_complete(loaded);
//   parameters.values_changed();
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <encore/device.hpp>

#include "memory/parameter_block.hpp"
#include "record/safetensors.hpp"

namespace encore::model {

/// The tensors of a file, or of several, by their names there.
using NamedTensors = std::map<std::string, record::Safetensors::Entry>;

/// Returns the tensors of a file whose names begin with `prefix`, under the rest of their names.
NamedTensors tensors_below(const std::string& prefix, const record::Safetensors& file);

/// Neighbouring rows (of the first axis) of a tensor of the source.
struct SourceRows {
  static constexpr std::int64_t to_the_end = -1;

  std::string name;
  std::int64_t first = 0;
  std::int64_t count = to_the_end;
};

/// Says which element types the tensors of a source may have.
enum class SourceTypes : std::uint8_t {
  equal,   ///< those of the block: files of our own
  floats,  ///< float32, float64, float16, bfloat16, which are converted
};

/// Returns where the values of a parameter are: its rows, one part below the other. The list usually has one
/// whole tensor. It has three if the source splits what the model has as one matrix (queries, keys, values),
/// and some rows of one tensor if the source joins what the model splits. It is empty if the source does not
/// have the parameter.
using NameMap = std::function<std::vector<SourceRows>(const std::string& path)>;

/// The map of our own files: it returns the whole tensor with the parameter's name.
std::vector<SourceRows> same_name(const std::string& path);

/// What load() has done.
struct Loaded {
  std::vector<std::string> taken;    ///< parameters that got their values, in the order of the block
  std::vector<std::string> missing;  ///< parameters that the source does not have; they are unchanged
  std::vector<std::string> left;     ///< tensors of the source that no parameter uses
};

/// Fills `block` (values, or an optimizer state; of device memory) from `source`. Throws Error that names
/// parameter and tensor if a type or shape does not fit. A caller that fills values or states reports it to
/// the block afterwards (values_changed).
Loaded load(const Device& device, const memory::ParameterBlock& parameters, Tensor block,
            const NamedTensors& source, const NameMap& names, SourceTypes types = SourceTypes::equal);

/// Fills the values of a model for inference. Values that passes can read in `source` stay there (a mapped
/// file needs no second copy in memory, and many processes share its pages), so `source` must outlive the
/// parameters. Throws like load().
Loaded load_in_place(const Device& device, memory::ParameterBlock& parameters, const NamedTensors& source,
                     const NameMap& names);

/// Throws Error that names what is missing and what is left over, if there is any. It is for files that
/// belong to this very model.
void require_complete(const Loaded& loaded);

}  // namespace encore::model
