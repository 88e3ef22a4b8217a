// SPDX-License-Identifier: BSD-3-Clause
// The program scores_tool: prints the tensors that a run's model computes for each input. compare_onnx.py
// starts it, compares the tensors with those of onnxruntime, and parses this form:
//   scores_tool RUN_FOLDER PLUGIN_FOLDER TENSOR...    text lines -> one JSON object per line: the numbers of
//   its tokens, columns that a head may read, and each TENSOR of the pass ("head.logits") with its shape
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "infer/engine.hpp"
#include "model/floats.hpp"

namespace {

using nlohmann::json;

json scores_of(encore::infer::Engine& engine, const std::string& text,
               const std::vector<std::string>& tensors) {
  const encore::tasks::EncodedSet encoded =
      engine.encode(engine.task().from_text(std::vector<std::string>{text}));
  if (encoded.set.sequence_count() != 1) throw encore::Error("\"" + text + "\" is more than one sequence");
  engine.run(encoded);
  json answer = {{"ids", encoded.set.ids(0)}};
  for (const char* column : {encore::segments_column, encore::picked_column, "spans"})
    if (encoded.set.has_column(column)) answer[column] = encoded.set.integers(encoded.set.column(column), 0);
  for (const std::string& name : tensors) {
    const encore::Tensor tensor = engine.model().evaluation_tensor(name);
    std::vector<std::int64_t> shape;
    for (int i = 0; i < tensor.rank; ++i) shape.push_back(tensor.extent(i));
    answer["tensors"][name] = {{"shape", shape},
                               {"values", encore::model::floats_of(engine.model().device(), tensor)}};
  }
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw encore::Error("scores_tool RUN_FOLDER PLUGIN_FOLDER TENSOR...");
    const encore::KokkosSession kokkos(1);
    const encore::Device device;
    encore::infer::Engine engine(argv[1], {argv[2]}, device);
    for (std::string line; std::getline(std::cin, line);)
      std::cout << scores_of(engine, line, {argv + 3, argv + argc}).dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scores_tool: " << error.what() << '\n';
    return 1;
  }
}
