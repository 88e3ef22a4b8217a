// SPDX-License-Identifier: BSD-3-Clause
// Safetensors: writes and maps files of the safetensors format. Checkpoints, weights files and Hugging Face
// folders use it. A file may come from anyone: it is checked by the rules of the reference implementation
// (version 0.4), without holes and overlaps, before a byte of it is used. Read safetensors.hpp first.
#include "record/safetensors.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/sha256.hpp"
#include "record/safetensors_header.hpp"
#include "world/atomic_file.hpp"

namespace encore::record {

namespace {

constexpr std::size_t length_bytes = 8;
/// The alignment of the first tensor in files that are written here, so that a mapped file can be used in
/// products.
constexpr std::size_t data_alignment = 64;
constexpr std::uint64_t header_limit = 100'000'000;
/// The bytes of a large tensor that are read at once.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

/// Returns the bytes of a tensor, or nothing when an extent is negative or the product leaves 63 bits.
std::optional<std::uint64_t> size_in_bytes(StoredType dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t size = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(size);
}

std::string make_header(const std::vector<const TensorSlice*>& tensors, const TensorMetadata& metadata) {
  // An ordered object keeps the tensors in the order of their data.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[metadata_name] = metadata;
  std::uint64_t offset = 0;
  for (const TensorSlice* tensor : tensors) {
    const std::uint64_t end = offset + size_in_bytes(tensor->dtype, tensor->shape).value();
    header[tensor->name] = {
        {"dtype", format_name(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append(data_alignment - (length_bytes + text.size()) % data_alignment, ' ');
  return text;
}

}  // namespace

const char* name_of(StoredType type) {
  return type == StoredType::int8 ? "int8" : encore::name_of(static_cast<DType>(type.of()));
}

std::size_t size_of(StoredType type) {
  return type == StoredType::int8 ? 1 : encore::size_of(static_cast<DType>(type.of()));
}

void visit_bytes(const TensorSlice& tensor,
                 const std::function<void(std::span<const std::byte> piece)>& visit) {
  if (tensor.file.empty()) return visit(tensor.bytes);
  InputFile file(tensor.file);
  std::vector<char> piece(piece_bytes);
  std::uint64_t total = 0;
  while (const std::size_t count = file.read(piece.data(), piece.size())) {
    visit(std::as_bytes(std::span(piece).first(count)));
    total += count;
  }
  if (total != size_in_bytes(tensor.dtype, tensor.shape))
    throw Error(tensor.file.string() + ": " + std::to_string(total) + " bytes are not those of tensor \"" +
                tensor.name + "\"");
}

SavedFile save_safetensors(const std::filesystem::path& path, const std::vector<TensorSlice>& tensors,
                           const TensorMetadata& metadata, const std::function<void()>& before_rename) {
  std::vector<const TensorSlice*> order;
  std::set<std::string> names;
  for (const TensorSlice& tensor : tensors) {
    ENCORE_REQUIRE(tensor.name != metadata_name && names.insert(tensor.name).second,
                   "tensor \"" + tensor.name + "\" has a name of its own");
    ENCORE_REQUIRE(
        size_in_bytes(tensor.dtype, tensor.shape).has_value() &&
            (!tensor.file.empty() || size_in_bytes(tensor.dtype, tensor.shape) == tensor.bytes.size()),
        "tensor \"" + tensor.name + "\" has as many bytes as its shape says");
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(), [](const TensorSlice* left, const TensorSlice* right) {
    return size_of(left->dtype) > size_of(right->dtype);
  });

  world::AtomicFile file(path);
  Sha256 hash;
  SavedFile saved;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    hash.add(bytes);
    saved.bytes += bytes.size();
  };
  const std::string header = make_header(order, metadata);
  const std::uint64_t length = header.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header.data(), header.size())));
  for (const TensorSlice* tensor : order) visit_bytes(*tensor, write);
  saved.sha256 = hash.hex();
  file.commit(before_rename);
  return saved;
}

Safetensors::Safetensors(const std::filesystem::path& path) : path_(path) {
  const InputFile file(path);
  const auto size = static_cast<std::size_t>(file.size());
  if (size < length_bytes) throw Error(path.string() + ": too short for a safetensors file");
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) throw Error(world::system_message("read", path, errno));
  mapping_ = {static_cast<const std::byte*>(memory), size};
  try {
    check();
  } catch (const std::exception& error) {
    ::munmap(memory, size);
    mapping_ = {};
    throw Error(path.string() + ": not a sound safetensors file: " + error.what());
  }
}

Safetensors::~Safetensors() {
  if (!mapping_.empty()) ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
}

Safetensors::Safetensors(Safetensors&& other) noexcept
    : path_(std::move(other.path_)),
      mapping_(std::exchange(other.mapping_, {})),
      tensors_(std::move(other.tensors_)),
      metadata_(std::move(other.metadata_)) {}

Safetensors& Safetensors::operator=(Safetensors&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(mapping_, other.mapping_);
  std::swap(tensors_, other.tensors_);
  std::swap(metadata_, other.metadata_);
  return *this;
}

void Safetensors::check() {
  std::uint64_t length = 0;
  std::memcpy(&length, mapping_.data(), sizeof length);
  if (length > header_limit) throw Error("the header would be longer than 100 MB");
  if (length > mapping_.size() - length_bytes) throw Error("the header is longer than the file");
  const char* const text = reinterpret_cast<const char*>(mapping_.data() + length_bytes);
  if (length == 0 || *text != '{') throw Error("the header does not begin with {");
  SafetensorsHeader header = parse_safetensors_header({text, length});
  const std::span<const std::byte> data = mapping_.subspan(length_bytes + length);
  for (auto& [name, tensor] : header.tensors) {
    const std::string where = "tensor \"" + name.substr(0, 100) + "\": ";
    if (tensor.begin > tensor.end || tensor.end > data.size()) throw Error(where + "lies outside the file");
    const std::uint64_t size = tensor.end - tensor.begin;
    if (size_in_bytes(tensor.dtype, tensor.shape) != size)
      throw Error(where + "shape " + shape_text(tensor.shape) + " does not fill its " + std::to_string(size) +
                  " bytes");
    tensors_.emplace_hint(tensors_.end(), name,
                          Entry{.dtype = tensor.dtype,
                                .shape = std::move(tensor.shape),
                                .bytes = data.subspan(tensor.begin, size)});
  }
  metadata_ = std::move(header.metadata);

  std::vector<std::span<const std::byte>> pieces;
  for (const auto& [name, entry] : tensors_) pieces.push_back(entry.bytes);
  std::sort(pieces.begin(), pieces.end(), [](const auto& left, const auto& right) {
    return std::pair(left.data(), left.size()) < std::pair(right.data(), right.size());
  });
  const std::byte* expected = data.data();
  for (const auto& piece : pieces) {
    if (piece.data() < expected) throw Error("two tensors overlap");
    if (piece.data() > expected) throw Error("there is a hole between two tensors");
    expected = piece.data() + piece.size();
  }
  if (expected != data.data() + data.size()) throw Error("the file is longer than its tensors");
}

const Safetensors::Entry& Safetensors::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Error(path_.string() + ": there is no tensor \"" + name + "\"");
  return found->second;
}

const Safetensors::Entry& Safetensors::tensor(const std::string& name, DType dtype,
                                              const std::vector<std::int64_t>& shape) const {
  const Entry& entry = tensor(name);
  if (entry.dtype != dtype || entry.shape != shape) {
    throw Error(path_.string() + ": tensor \"" + name + "\" is " + name_of(entry.dtype) +
                shape_text(entry.shape) + " in the file, " + encore::name_of(dtype) + shape_text(shape) +
                " in the model");
  }
  return entry;
}

const std::string& Safetensors::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw Error(path_.string() + ": there is no metadata \"" + key + "\"");
  return found->second;
}

void Safetensors::visit_bytes(const Entry& entry,
                              const std::function<void(std::span<const std::byte> piece)>& visit) const {
  visit_mapped(entry.bytes, visit);
}

void Safetensors::visit_mapped(std::span<const std::byte> bytes,
                               const std::function<void(std::span<const std::byte> piece)>& visit) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::span<const std::byte> left = bytes; !left.empty();) {
    const std::span<const std::byte> piece = left.first(std::min(piece_bytes, left.size()));
    left = left.subspan(piece.size());
    visit(piece);
    if (bytes.size() <= piece_bytes) continue;
    // Releases whole pages; the system reads them from the file again when they are needed.
    const auto begin = static_cast<std::size_t>(piece.data() - mapping_.data()) / page * page;
    const auto end = static_cast<std::size_t>(piece.data() + piece.size() - mapping_.data()) / page * page;
    ::madvise(const_cast<std::byte*>(mapping_.data()) + begin, end - begin, MADV_DONTNEED);
  }
}

std::string Safetensors::sha256() const {
  Sha256 hash;
  visit_mapped(mapping_, [&](std::span<const std::byte> piece) { hash.add(piece); });
  return hash.hex();
}

}  // namespace encore::record
