// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "safetensors": mutated files of tensors go to record::Safetensors, which reads weights and
// checkpoints. The head is mutated as JSON, with a matching length, or the whole file as bytes. fuzz.cpp
// calls the target; read target.hpp first.
#include <cstring>

#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "record/checkpoint.hpp"
#include "record/safetensors.hpp"

namespace encore::fuzz {

namespace {

constexpr std::size_t length_bytes = 8;

class SafetensorsTarget final : public Target {
 public:
  std::string name() const override { return "safetensors"; }

  std::vector<std::string> corpus() override {
    const std::vector<float> values = {0.0f, 1.0f, -2.5f, 3e38f, 1e-40f, 6.0f};
    const std::vector<record::TensorSlice> tensors = {
        {"parameter/embedding.weight", DType::float32, {2, 3}, std::as_bytes(std::span(values))},
        {"parameter/empty", DType::float32, {0, 3}, {}},
        {"optimizer/moment/embedding.weight",
         DType::float32,
         {1},
         std::as_bytes(std::span(values).first(1))}};
    record::save_safetensors(folder_ / "base", tensors, {{"question", std::string(64, 'a')}, {"step", "12"}});
    return {read_bytes(folder_ / "base")};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    std::uint64_t length = 0;
    std::memcpy(&length, input.data(), length_bytes);
    if (random.once_in(3)) {
      mutate_bytes(input, json_words(), others, random);
      return;
    }
    std::string head = input.substr(length_bytes, length);
    mutate_json(head, random);
    input.replace(length_bytes, length, head);
    length = head.size();
    std::memcpy(input.data(), &length, length_bytes);
  }

  void take(const std::string& input) override {
    write_bytes(folder_ / "x.safetensors", input);
    const record::Safetensors file(folder_ / "x.safetensors");
    unsigned sum = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      if (tensor.dtype == DType::float32) file.tensor(name, DType::float32, tensor.shape);
      for (const std::byte byte : tensor.bytes) sum += static_cast<unsigned>(byte);
    }
    if (sum == 1) file.text("step");
    file.sha256();
  }

 private:
  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_safetensors_target() {
  return std::make_unique<SafetensorsTarget>();
}

}  // namespace encore::fuzz
