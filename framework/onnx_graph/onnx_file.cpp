// SPDX-License-Identifier: BSD-3-Clause
// Implements save_onnx(): writes an OnnxModel as the protocol buffer messages of an ONNX file, with the
// weights inside or in a file beside it. The worker's export calls it. The numbers of the fields are those of
// onnx.proto and must not change. Read onnx_file.hpp first.
#include "onnx_graph/onnx_file.hpp"

#include <span>
#include <variant>

#include "base/sha256.hpp"
#include "onnx_graph/proto_message.hpp"
#include "world/atomic_file.hpp"

namespace encore::onnx_graph {
namespace {

constexpr std::int64_t ir_version = 8, opset = 17;
/// Smaller constants stay in the graph; the others begin at a multiple of a page, so that they can be
/// mapped.
constexpr std::size_t least_beside = 1024, page = 4096;

/// A file with its size and hash when it is complete.
class HashedFile {
 public:
  explicit HashedFile(const std::filesystem::path& path) : file_(path) {}

  void write(std::span<const std::byte> bytes) {
    file_.write(bytes);
    hash_.add(bytes);
    size_ += bytes.size();
  }
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  std::uint64_t size() const { return size_; }
  record::SavedFile commit() {
    file_.commit();
    return {.bytes = size_, .sha256 = hash_.hex()};
  }

 private:
  world::AtomicFile file_;
  Sha256 hash_;
  std::uint64_t size_ = 0;
};

ProtoMessage attribute_message(const OnnxAttribute& attribute) {
  enum Kind : std::int64_t { of_float = 1, of_int = 2, of_ints = 7 };
  ProtoMessage message;
  message.text(1, attribute.name);
  if (const auto* value = std::get_if<double>(&attribute.value)) {
    message.number(2, static_cast<float>(*value));
    message.integer(20, of_float);
  } else if (const auto* whole = std::get_if<std::int64_t>(&attribute.value)) {
    message.integer(3, *whole);
    message.integer(20, of_int);
  } else {
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(attribute.value))
      message.integer(8, each);
    message.integer(20, of_ints);
  }
  return message;
}

ProtoMessage node_message(const OnnxNode& node) {
  ProtoMessage message;
  for (const std::string& input : node.inputs) message.text(1, input);
  for (const std::string& output : node.outputs) message.text(2, output);
  message.text(3, node.name);
  message.text(4, node.operation);
  for (const OnnxAttribute& attribute : node.attributes) message.message(5, attribute_message(attribute));
  return message;
}

ProtoMessage port_message(const OnnxPort& port) {
  ProtoMessage shape, tensor, type, message;
  for (const std::int64_t extent : port.shape) {
    ProtoMessage dimension;
    if (extent >= 0)
      dimension.integer(1, extent);
    else
      dimension.text(2, extent == OnnxGraph::batch ? "batch" : "length");
    shape.message(1, dimension);
  }
  tensor.integer(1, static_cast<std::int64_t>(port.type));
  tensor.message(2, shape);
  type.message(1, tensor);
  message.text(1, port.name);
  message.message(2, type);
  return message;
}

ProtoMessage entry(const std::string& key, const std::string& value) {
  ProtoMessage message;
  message.text(1, key);
  message.text(2, value);
  return message;
}

/// Returns the message of a tensor without its bytes.
ProtoMessage tensor_message(const OnnxTensor& tensor) {
  ProtoMessage message;
  for (const std::int64_t extent : tensor.shape) message.integer(1, extent);
  message.integer(2, static_cast<std::int64_t>(tensor.type));
  message.text(8, tensor.name);
  return message;
}

/// Returns a tensor's message that ends with the number of bytes; the bytes follow it.
ProtoMessage with_bytes_behind(const OnnxTensor& tensor) {
  ProtoMessage message = tensor_message(tensor);
  message.begin(9, tensor.bytes.size());
  return message;
}

/// Returns a tensor's message that refers to bytes in the data file, from `offset` on.
ProtoMessage with_bytes_beside(const OnnxTensor& tensor, std::uint64_t offset) {
  constexpr std::int64_t external = 1;
  ProtoMessage message = tensor_message(tensor);
  message.message(13, entry("location", onnx_data_file));
  message.message(13, entry("offset", std::to_string(offset)));
  message.message(13, entry("length", std::to_string(tensor.bytes.size())));
  message.integer(14, external);
  return message;
}

/// A constant of the graph: a message, and its bytes.
struct Constant {
  ProtoMessage message;
  std::span<const std::byte> bytes;

  std::uint64_t size() const { return message.bytes().size() + bytes.size(); }
};

std::vector<Constant> constants_inside(const OnnxModel& model) {
  std::vector<Constant> constants;
  for (const OnnxTensor& tensor : model.constants)
    constants.push_back({with_bytes_behind(tensor), tensor.bytes});
  return constants;
}

std::vector<Constant> constants_beside(const OnnxModel& model, HashedFile& data) {
  std::vector<Constant> constants;
  for (const OnnxTensor& tensor : model.constants) {
    if (tensor.bytes.size() < least_beside) {
      constants.push_back({with_bytes_behind(tensor), tensor.bytes});
      continue;
    }
    data.write(std::string((page - data.size() % page) % page, '\0'));
    constants.push_back({with_bytes_beside(tensor, data.size()), {}});
    data.write(tensor.bytes);
  }
  return constants;
}

ProtoMessage head_of_model(const OnnxModel& model) {
  ProtoMessage message, operators;
  message.integer(1, ir_version);
  message.text(2, "encore");
  operators.text(1, "");
  operators.integer(2, opset);
  message.message(8, operators);
  for (const auto& [key, value] : model.metadata) message.message(14, entry(key, value));
  return message;
}

record::SavedFile save_graph(const std::filesystem::path& path, const OnnxModel& model,
                             const std::vector<Constant>& constants) {
  ProtoMessage first, last;
  for (const OnnxNode& node : model.nodes) first.message(1, node_message(node));
  first.text(2, "encore");
  for (const OnnxPort& port : model.inputs) last.message(11, port_message(port));
  for (const OnnxPort& port : model.outputs) last.message(12, port_message(port));
  std::vector<ProtoMessage> keys(constants.size());
  std::uint64_t size = first.bytes().size() + last.bytes().size();
  for (std::size_t i = 0; i < constants.size(); ++i) {
    keys[i].begin(5, constants[i].size());
    size += keys[i].bytes().size() + constants[i].size();
  }
  ProtoMessage head = head_of_model(model);
  head.begin(7, size);
  HashedFile file(path);
  for (const ProtoMessage* part : {&head, &first}) file.write(part->bytes());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    file.write(keys[i].bytes());
    file.write(constants[i].message.bytes());
    file.write(constants[i].bytes);
  }
  file.write(last.bytes());
  return file.commit();
}

}  // namespace

std::uint64_t constant_bytes(const OnnxModel& model) {
  std::uint64_t bytes = 0;
  for (const OnnxTensor& tensor : model.constants) bytes += tensor.bytes.size();
  return bytes;
}

record::SavedFile save_onnx(const std::filesystem::path& folder, const OnnxModel& model,
                            OnnxWeights weights) {
  if (weights == OnnxWeights::inside) {
    if (const std::uint64_t bytes = constant_bytes(model); bytes > most_onnx_bytes)
      throw Error(
          "the weights have " + std::to_string(bytes) +
          " bytes, but an ONNX file holds 2 GB; write them into a file of their own (--external-data)");
    return save_graph(folder / onnx_file, model, constants_inside(model));
  }
  HashedFile data(folder / onnx_data_file);
  const std::vector<Constant> constants = constants_beside(model, data);
  const record::SavedFile saved = data.commit();
  save_graph(folder / onnx_file, model, constants);
  return saved;
}

}  // namespace encore::onnx_graph
