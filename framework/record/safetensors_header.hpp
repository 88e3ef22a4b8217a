// SPDX-License-Identifier: BSD-3-Clause
// parse_safetensors_header(): reads the header of a safetensors file in one pass, so that time and memory
// grow with the header alone. Place in the flow: safetensors.cpp maps a file -> here -> safetensors.cpp
// compares the byte ranges of the tensors with the file. A file may come from anyone, so no limit may be
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/safetensors.hpp"

namespace encore::record {

/// The limits of a header (SECURITY.md). The largest known models have about 100,000 tensors, in many
/// files.
inline constexpr std::size_t most_tensors = 200'000, most_metadata = 10'000, most_extents = 64;
inline constexpr const char* metadata_name = "__metadata__";

struct SafetensorsHeader {
  /// The entry of a tensor in the header. It is not compared with the file yet.
  struct Tensor {
    StoredType dtype = StoredType::float32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes of the data
  };
  std::map<std::string, Tensor> tensors;
  TensorMetadata metadata;
  std::size_t values =
      0;  ///< values that the parser met: names, numbers, strings, and each end of a list or object
};

/// Throws Error if the text is not a header, names something twice, or exceeds a limit. The rest of it is not
/// read then.
SafetensorsHeader parse_safetensors_header(std::string_view text);

/// Returns the name in the format, such as "F32".
const char* format_name(StoredType dtype);

}  // namespace encore::record
