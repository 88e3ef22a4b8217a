// load: fills parameters from named tensors in host memory through a map of names.
// Place in the flow: infer/ and train/ load files of our own, whose tensors have the names and shapes of the
// parameters (same_name); a model from elsewhere (infer/pretrained_weights.cpp) brings a map that says, for
// each parameter, of which rows of which of its tensors the values consist.
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

namespace encore {

/// Tensors of a file, or of several, by their names there.
using NamedTensors = std::map<std::string, Safetensors::Entry>;

/// Those of a file whose names begin with `prefix`, without it.
NamedTensors tensors_below(const std::string& prefix, const Safetensors& file);

/// Neighbouring rows (of the first axis) of a tensor of the source.
struct SourceRows {
  static constexpr std::int64_t to_the_end = -1;

  std::string name;
  std::int64_t first = 0;
  std::int64_t count = to_the_end;
};

/// What element types the tensors of a source may have.
enum class SourceTypes : std::uint8_t {
  equal,   ///< those of the block: files of our own
  floats,  ///< float32, float64, float16, bfloat16, which are converted
};

/// Where the values of a parameter are: its rows, one piece below the other. One whole tensor for most; three
/// where the source keeps apart what the model has as one matrix (queries, keys, values); some rows of one
/// where it is the other way round. No pieces: the source has no such thing.
using NameMap = std::function<std::vector<SourceRows>(const std::string& path)>;

/// The map of our own files: the whole tensor with the parameter's name.
std::vector<SourceRows> same_name(const std::string& path);

struct Loaded {
  std::vector<std::string> taken;    ///< parameters that have their values now, in the order of the block
  std::vector<std::string> missing;  ///< parameters that the source does not have; they are as they were
  std::vector<std::string> left;     ///< tensors of the source that no parameter has taken anything of
};

/// Fills `block` (values, or an optimizer state; of device memory) from `source`. Throws Error naming
/// parameter and tensor where a type or shape does not fit. Who fills values or states tells the block
/// afterwards (values_changed).
Loaded load(const Device& device, const ParameterBlock& parameters, Tensor block, const NamedTensors& source,
            const NameMap& names, SourceTypes types = SourceTypes::equal);

/// Fills the values of a model for inference. Where passes can read them in `source` they stay there (a file
/// that is mapped has no second copy in memory, and many processes share its pages), so that `source` must
/// outlive the parameters. Throws as load.
Loaded load_in_place(const Device& device, ParameterBlock& parameters, const NamedTensors& source,
                     const NameMap& names);

/// Throws Error naming what is missing and what is left over, if anything is: for files that must be those of
/// this very model.
void require_complete(const Loaded& loaded);

}  // namespace encore
