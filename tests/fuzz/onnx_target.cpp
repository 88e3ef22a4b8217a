// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "onnx": the writer of ONNX files (onnx_graph/onnx_file.hpp), which `exp export --format
// onnx` uses; the project reads no such files. The lines of an input become names and values of a graph,
// which is written in both forms and read back by a reader of protocol buffers in this file, which is
// independent of the writer. fuzz.cpp calls the target; read target.hpp first.
#include <cstring>

#include "base/sha256.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "onnx_graph/onnx_file.hpp"

namespace encore::fuzz {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;   ///< if it is a number
  std::string_view content;  ///< if it is a string or a message
};

std::uint64_t varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    require(!bytes.empty(), "a number without an end");
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw std::logic_error("a number of more than ten bytes");
}

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  while (!message.empty()) {
    const std::uint64_t key = varint(message), kind = key & 7;
    Field field{.number = key >> 3, .value = 0, .content = {}};
    std::size_t size = 0;
    if (kind == 0) {
      field.value = varint(message);
    } else {
      require(kind == 2 || kind == 5, "a field of a kind that ONNX has not");
      size = kind == 5 ? 4 : static_cast<std::size_t>(varint(message));
      require(size <= message.size(), "a field that is longer than its message");
      field.content = message.substr(0, size);
      message.remove_prefix(size);
    }
    fields.push_back(field);
  }
  return fields;
}

/// Returns the fields with that number, in their order.
std::vector<std::string_view> all_of(const std::vector<Field>& fields, std::uint64_t number) {
  std::vector<std::string_view> found;
  for (const Field& field : fields)
    if (field.number == number) found.push_back(field.content);
  return found;
}

/// Returns the graph that the fuzzer's input describes: each line gives a node, a constant, an input and an
/// output, with the line as their name.
onnx_graph::OnnxModel model_of(const std::string& input) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= input.size() && names.size() < 200;) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    names.push_back(input.substr(at, end - at));
    at = end + 1;
  }
  onnx_graph::OnnxModel model;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string &name = names[i], &next = names[(i + 1) % names.size()];
    std::int64_t number = 0;
    std::memcpy(&number, name.data(), std::min(name.size(), sizeof number));
    model.constants.push_back(
        {.name = name,
         .type = i % 2 == 0 ? onnx_graph::OnnxType::float32 : onnx_graph::OnnxType::int64,
         .shape = {static_cast<std::int64_t>(i), number},
         .bytes = std::vector<std::byte>(next.size() * (i % 7))});
    model.nodes.push_back({.name = name,
                           .operation = next,
                           .inputs = {next, name},
                           .outputs = {name},
                           .attributes = {{name, number}, {next, 0.5}, {name, std::vector{number, number}}}});
    model.inputs.push_back(
        {.name = next, .type = onnx_graph::OnnxType::int64, .shape = {OnnxGraph::batch, number}});
    model.outputs.push_back({.name = name, .shape = {OnnxGraph::length, 1}});
    model.metadata[name] = next;
  }
  return model;
}

void require_same(const onnx_graph::OnnxModel& model, std::string_view file, std::string_view data) {
  const std::vector<Field> whole = fields_of(file);
  require(all_of(whole, 14).size() == model.metadata.size(), "another number of metadata");
  for (const std::string_view entry : all_of(whole, 14)) {
    const std::vector<Field> pair = fields_of(entry);
    const auto known = model.metadata.find(std::string(all_of(pair, 1).at(0)));
    require(known != model.metadata.end() && known->second == all_of(pair, 2).at(0), "other metadata");
  }
  const std::vector<Field> graph = fields_of(all_of(whole, 7).at(0));
  const std::vector<std::string_view> nodes = all_of(graph, 1), constants = all_of(graph, 5),
                                      inputs = all_of(graph, 11);
  require(nodes.size() == model.nodes.size() && constants.size() == model.constants.size() &&
              inputs.size() == model.inputs.size() && all_of(graph, 12).size() == model.outputs.size(),
          "another number of parts");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<Field> node = fields_of(nodes[i]), constant = fields_of(constants[i]);
    require(all_of(node, 3).at(0) == model.nodes[i].name &&
                all_of(node, 4).at(0) == model.nodes[i].operation &&
                all_of(node, 1).at(1) == model.nodes[i].inputs[1] &&
                fields_of(all_of(node, 5).at(2)).size() == 4 &&
                all_of(fields_of(inputs[i]), 1).at(0) == model.inputs[i].name,
            "another node");
    require(all_of(constant, 8).at(0) == model.constants[i].name, "another constant");
    const std::span<const std::byte> bytes = model.constants[i].bytes;
    std::string_view stored;
    if (const auto inside = all_of(constant, 9); !inside.empty()) {
      stored = inside.at(0);
    } else {
      const std::vector<std::string_view> place = all_of(constant, 13);
      const auto value = [&](std::size_t which) {
        return std::stoull(std::string(all_of(fields_of(place.at(which)), 2).at(0)));
      };
      require(value(1) % 4096 == 0 && value(1) + value(2) <= data.size(), "bytes beside that are not there");
      stored = data.substr(value(1), value(2));
    }
    require(stored.size() == bytes.size() && stored.find_first_not_of('\0') == std::string_view::npos,
            "other bytes of a constant");
  }
}

class OnnxTarget final : public Target {
 public:
  std::string name() const override { return "onnx"; }

  std::vector<std::string> corpus() override {
    return {"encoder.0.attention.qkv.weight\nlogits\ninput_ids\nattention_mask\nMatMul\nB-PER\n",
            "na\u00efve \u65e5\u672c\n\nx\n" + std::string(300, 'y') + "\n"};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {"\n",
                                "\n\n",
                                "\x0A",
                                "\x80\x01",
                                "\xff\xff\xff\xff\xff\xff\xff\xff",
                                "/",
                                "..",
                                std::string(1, '\0'),
                                std::string(130, 'z'),
                                std::string(17'000, 'w'),
                                "\u202e"};
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    const onnx_graph::OnnxModel model = model_of(input);
    for (const onnx_graph::OnnxWeights weights :
         {onnx_graph::OnnxWeights::inside, onnx_graph::OnnxWeights::beside}) {
      const record::SavedFile saved = onnx_graph::save_onnx(folder_ / "", model, weights);
      const bool beside = weights == onnx_graph::OnnxWeights::beside;
      const std::string file = read_bytes(folder_ / onnx_graph::onnx_file),
                        data = beside ? read_bytes(folder_ / onnx_graph::onnx_data_file) : "";
      require(saved.bytes == (beside ? data : file).size() && saved.sha256 == sha256(beside ? data : file),
              "another size or hash than that of the file");
      require_same(model, file, data);
    }
  }

 private:
  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_onnx_target() {
  return std::make_unique<OnnxTarget>();
}

}  // namespace encore::fuzz
