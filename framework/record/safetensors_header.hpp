// The header of a safetensors file, read in one pass: every tensor and text is taken as the parser comes to
// it, so that time and memory grow with the header alone. Place in the flow: safetensors.cpp maps a file ->
// here -> it holds the places of the tensors against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// More of them are refused (SECURITY.md). The largest models that are known have about 100,000 tensors, in
/// many files.
inline constexpr std::size_t most_tensors = 200'000, most_metadata = 10'000, most_extents = 64;
inline constexpr const char* metadata_name = "__metadata__";

struct SafetensorsHeader {
  /// What is said of a tensor; nothing of it was held against the file.
  struct Tensor {
    StoredType dtype = StoredType::float32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes of the data
  };
  std::map<std::string, Tensor> tensors;
  TensorMetadata metadata;
  std::size_t values =
      0;  ///< that the parser came to: names, numbers, texts, and each end of a list or object
};

/// Throws Error where the text is no header, names something twice, or goes beyond the limits; the rest of it
/// is not read then.
SafetensorsHeader parse_safetensors_header(std::string_view text);

/// "F32"
const char* format_name(StoredType dtype);

}  // namespace encore
