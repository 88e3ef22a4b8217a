// SPDX-License-Identifier: BSD-3-Clause
// Safetensors: reads and writes named tensors in one file, in the format of the Python package of that name.
// Layout: [u64 length][JSON header][data]; the header gives dtype, shape and byte range of each tensor, and
// text metadata. Writing is atomic and durable. Reading maps the file and checks everything in its header.
// Other programs read and write the format, so it does not change. Read next: checkpoint.hpp,
// weights_file.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/tensor.hpp>

#include "world/file_descriptor.hpp"

namespace encore::record {

/// The element type of a tensor in a file: one of DType, or int8, for weights that need little space
/// (infer/integer_weights.hpp). Floats of files from or for other programs are converted if they have another
/// type (model/floats.hpp).
class StoredType {
 public:
  enum Of : std::uint8_t { float32, float64, bfloat16, float16, int32, int64, int8 };  // DType, then more

  constexpr StoredType(Of of) : of_(of) {}
  constexpr StoredType(DType type) : of_(static_cast<Of>(type)) {}
  constexpr Of of() const { return of_; }
  friend constexpr bool operator==(StoredType, StoredType) = default;

 private:
  Of of_;
};
const char* name_of(StoredType type);
std::size_t size_of(StoredType type);

/// A named part of host memory to be written, or a file that holds only its bytes.
struct TensorSlice {
  std::string name;
  StoredType dtype = StoredType::float32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes = {};
  std::filesystem::path file = {};  ///< where the bytes lie; empty: in `bytes`
};

/// Passes the bytes of a tensor to the callback, in order and in chunks. Throws Error when its file cannot be
/// read or has another size.
void visit_bytes(const TensorSlice& tensor,
                 const std::function<void(std::span<const std::byte> piece)>& visit);

using TensorMetadata = std::map<std::string, std::string>;

struct SavedFile {
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// Writes a temporary file, fsyncs, calls `before_rename` (it may throw: then nothing is replaced), renames.
/// Tensors lie in the file by falling element size, then in the given order, so that each is aligned.
SavedFile save_safetensors(const std::filesystem::path& path, const std::vector<TensorSlice>& tensors,
                           const TensorMetadata& metadata, const std::function<void()>& before_rename = {});

/// A file that was read and checked. Its bytes are mapped and valid while this object lives.
class Safetensors {
 public:
  struct Entry {
    StoredType dtype = StoredType::float32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
  };

  /// Throws Error that names file and fault when anything in the file contradicts the format or itself.
  explicit Safetensors(const std::filesystem::path& path);
  ~Safetensors();
  Safetensors(Safetensors&& other) noexcept;
  Safetensors& operator=(Safetensors&& other) noexcept;

  const std::map<std::string, Entry>& tensors() const { return tensors_; }
  const TensorMetadata& metadata() const { return metadata_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  /// Throws Error when there is no such tensor, or (the second form) when it has another type or shape.
  const Entry& tensor(const std::string& name) const;
  const Entry& tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) const;
  /// Throws Error when there is no such text.
  const std::string& text(const std::string& key) const;
  /// Returns the SHA-256 of the whole file. It reads all of it and then releases the memory.
  std::string sha256() const;
  /// Passes the bytes of a tensor to the callback in order, in chunks. Releases the memory of a large one.
  void visit_bytes(const Entry& entry,
                   const std::function<void(std::span<const std::byte> piece)>& visit) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  /// Visits bytes of the mapping, chunk by chunk.
  void visit_mapped(std::span<const std::byte> bytes,
                    const std::function<void(std::span<const std::byte> piece)>& visit) const;
  void check();

  std::filesystem::path path_;
  std::span<const std::byte> mapping_;
  std::map<std::string, Entry> tensors_;
  TensorMetadata metadata_;
};

}  // namespace encore::record
