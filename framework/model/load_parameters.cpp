// SPDX-License-Identifier: BSD-3-Clause
// Implements load() and load_in_place(): copies rows of named tensors of a file into parameters, or lets
// passes read them in the mapped file. infer/ and train/ call it for weights and checkpoints. Rows of a
// parameter are contiguous, so each part is a range of bytes in the file and in the block. Read
// load_parameters.hpp first.
#include "model/load_parameters.hpp"

#include <algorithm>
#include <set>

#include <encore/error.hpp>

#include "memory/device_memory.hpp"
#include "model/floats.hpp"

namespace encore::model {
namespace {

constexpr std::size_t most_named = 3;

std::string shape_text(record::StoredType dtype, const std::vector<std::int64_t>& shape) {
  std::string text = std::string(record::name_of(dtype)) + "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + ")";
}

/// Returns the extents of one row.
std::vector<std::int64_t> row_of(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? shape : std::vector<std::int64_t>(shape.begin() + 1, shape.end());
}

std::int64_t rows_of(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? 1 : shape.front();
}

/// Collects the parts of one parameter, with their bytes.
class PiecesOf {
 public:
  PiecesOf(const memory::ParameterSlice& parameter, DType dtype, SourceTypes types)
      : parameter_(parameter), dtype_(dtype), types_(types) {}

  void add(const SourceRows& rows, const record::Safetensors::Entry& tensor) {
    const std::int64_t all = rows_of(tensor.shape);
    const std::int64_t count = rows.count == SourceRows::to_the_end ? all - rows.first : rows.count;
    const bool whole = rows.first == 0 && count == all;
    const bool fits = types_ == SourceTypes::equal ? tensor.dtype == dtype_ : is_float(tensor.dtype);
    if (!fits || row_of(tensor.shape) != row_of(parameter_.spec.shape) ||
        tensor.shape.size() != parameter_.spec.shape.size() || rows.first < 0 || count < 0 ||
        rows.first + count > all)
      refuse("tensor \"" + rows.name + "\" is " + shape_text(tensor.dtype, tensor.shape) +
             (whole ? ""
                    : " (rows " + std::to_string(rows.first) + " to " + std::to_string(rows.first + count) +
                          " are wanted)"));
    const std::size_t row_bytes = all == 0 ? 0 : tensor.bytes.size() / static_cast<std::size_t>(all);
    pieces_.push_back({tensor.dtype, tensor.bytes.subspan(static_cast<std::size_t>(rows.first) * row_bytes,
                                                          static_cast<std::size_t>(count) * row_bytes)});
    rows_ += count;
    names_ += (names_.empty() ? "\"" : ", \"") + rows.name + "\"";
  }

  void require_all_rows() const {
    if (rows_ != rows_of(parameter_.spec.shape))
      refuse("the rows of " + names_ + " are " + std::to_string(rows_));
  }

  /// Returns the bytes of the parts if they are one range of the block's type, else null.
  const std::byte* in_one_piece() const {
    return pieces_.size() == 1 && pieces_.front().dtype == dtype_ ? pieces_.front().bytes.data() : nullptr;
  }

  void copy(const Device& device, Tensor to) const {
    auto* at = static_cast<std::byte*>(to.data);
    std::vector<std::byte> converted;
    for (const Piece& piece : pieces_) {
      std::span<const std::byte> bytes = piece.bytes;
      if (piece.dtype != dtype_) {
        converted = converted_of(piece);
        bytes = converted;
      }
      const auto elements = static_cast<std::int64_t>(bytes.size() / size_of(dtype_));
      memory::copy_from_host(device, bytes.data(), Tensor(at, dtype_, {elements}));
      at += bytes.size();
    }
  }

 private:
  struct Piece {
    record::StoredType dtype;
    std::span<const std::byte> bytes;
  };

  std::vector<std::byte> converted_of(const Piece& piece) const try {
    return convert_elements(piece.dtype, piece.bytes, dtype_);
  } catch (const Error& error) {
    throw Error(names_ + ": " + error.what());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(what + ", and parameter \"" + parameter_.path + "\" of the model is " +
                shape_text(dtype_, parameter_.spec.shape));
  }

  const memory::ParameterSlice& parameter_;
  DType dtype_;
  SourceTypes types_;
  std::vector<Piece> pieces_;
  std::int64_t rows_ = 0;
  std::string names_;
};

std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    text += (i > 0 ? ", \"" : "\"") + names[i] + "\"";
  return names.size() > most_named ? text + " and " + std::to_string(names.size() - most_named) + " more"
                                   : text;
}

/// Calls `place(parameter, parts)` for each parameter that the source has.
Loaded place_all(const memory::ParameterBlock& parameters, DType dtype, const NamedTensors& source,
                 const NameMap& names, SourceTypes types, const auto& place) {
  Loaded loaded;
  std::set<std::string> used;
  for (const memory::ParameterSlice& parameter : parameters.slices()) {
    const std::vector<SourceRows> rows = names(parameter.path);
    const bool there = !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](const SourceRows& piece) {
      return source.contains(piece.name);
    });
    (there ? loaded.taken : loaded.missing).push_back(parameter.path);
    if (!there) continue;
    PiecesOf pieces(parameter, dtype, types);
    for (const SourceRows& piece : rows) {
      pieces.add(piece, source.at(piece.name));
      used.insert(piece.name);
    }
    pieces.require_all_rows();
    place(parameter, pieces);
  }
  for (const auto& [name, tensor] : source)
    if (!used.contains(name)) loaded.left.push_back(name);
  return loaded;
}

}  // namespace

NamedTensors tensors_below(const std::string& prefix, const record::Safetensors& file) {
  NamedTensors found;
  for (const auto& [name, tensor] : file.tensors())
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), tensor);
  return found;
}

std::vector<SourceRows> same_name(const std::string& path) {
  return {{.name = path}};
}

Loaded load(const Device& device, const memory::ParameterBlock& parameters, Tensor block,
            const NamedTensors& source, const NameMap& names, SourceTypes types) {
  return place_all(parameters, block.dtype, source, names, types,
                   [&](const memory::ParameterSlice& parameter, const PiecesOf& pieces) {
                     pieces.copy(device, memory::ParameterBlock::slice(block, parameter));
                   });
}

Loaded load_in_place(const Device& device, memory::ParameterBlock& parameters, const NamedTensors& source,
                     const NameMap& names) {
  return place_all(parameters, parameters.dtype(), source, names, SourceTypes::equal,
                   [&](const memory::ParameterSlice& parameter, const PiecesOf& pieces) {
                     const std::byte* const there = pieces.in_one_piece();
                     if (there == nullptr || !parameters.place_at(parameter, there))
                       pieces.copy(device, memory::ParameterBlock::slice(parameters.values(), parameter));
                   });
}

void require_complete(const Loaded& loaded) {
  if (loaded.missing.empty() && loaded.left.empty()) return;
  std::string text = "it belongs to another model:";
  if (!loaded.missing.empty()) text += " it lacks " + some_of(loaded.missing);
  if (!loaded.left.empty())
    text += std::string(loaded.missing.empty() ? "" : ", and") + " it holds " + some_of(loaded.left) +
            ", which the model does not have";
  throw Error(text);
}

}  // namespace encore::model
