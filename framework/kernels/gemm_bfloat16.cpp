// Products of bfloat16 matrices on a CPU with AVX512_BF16, by tiles of our own (bfloat16_tile.hpp): about
// 1.1 times as fast as oneDNN 2.6.3 at the shapes of an encoder, packing included. b is brought into panels
// first, each by one task; then a task computes a block of rows of c times one panel. Rows of a are read
// where they lie, if their pairs do: else (weight gradients; an odd inner extent) a goes through panels too.
// No sum is ever cut, so the cut into tasks decides no bit. Sums of a's columns are made while its rows are
// packed. A CPU with AMX has faster ones (gemm_amx.cpp).
#include <encore/device.hpp>
#include <encore/view.hpp>

#include "kernels/bfloat16_packing.hpp"
#include "kernels/gemm.hpp"
#include "kernels/parallel_tasks.hpp"
#include "kernels/tile_epilogue.hpp"

namespace encore {

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace {

using namespace pairs;

/// Rows of c in a task: b's panel stays in the first cache.
constexpr std::int64_t block_rows = 2 * panel_rows;

class Bfloat16Gemm final : public GemmLibrary {
 public:
  explicit Bfloat16Gemm(std::unique_ptr<GemmLibrary> other) : other_(std::move(other)) {}

  std::string name() const override { return other_->name() + ", bfloat16 by pairs (avx512_bf16)"; }
  bool multiplies(DType type) const override { return type == DType::bfloat16 || other_->multiplies(type); }
  std::int64_t prepared() const override { return other_->prepared(); }
  std::size_t layout_bytes(const Tensor& weight) const override {
    return weight.dtype == DType::bfloat16 ? panels_of(weight, nullptr).bytes()
                                           : other_->layout_bytes(weight);
  }
  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    if (weight.dtype != DType::bfloat16) return other_->lay_out(device, weight, to);
    const Panels panels = panels_of(weight, to);
    parallel_tasks(device, "encore::gemm_lay_out", pack_tasks(panels, true),
                   [=](std::int64_t task) { pack(panels, task, weight, true, nullptr); });
  }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype != DType::bfloat16) return other_->multiply(device, p);
    const bool pack_a = p.transpose_a || p.inner() % 2 != 0;
    Panels b{nullptr, p.columns(), p.inner()};
    Panels a{nullptr, pack_a ? p.rows() : 0, p.inner()};
    const std::int64_t tasks_of_b = p.layout != nullptr ? 0 : pack_tasks(b, p.transpose_b);
    const std::int64_t tasks_of_a = pack_a ? pack_tasks(a, !p.transpose_a) : 0;
    FirstSums sums{nullptr, p.sums ? tasks_of_a : 0, padded_columns(p.rows())};
    const std::size_t packed_b = p.layout != nullptr ? 0 : b.bytes();
    auto* const workspace = static_cast<bfloat16*>(device.workspace(packed_b + a.bytes() + sums.bytes()));
    // A layout is only read.
    b.data = p.layout != nullptr ? static_cast<bfloat16*>(const_cast<void*>(p.layout)) : workspace;
    a.data = workspace + packed_b / sizeof(bfloat16);
    sums.data = reinterpret_cast<float*>(a.data + a.bytes() / sizeof(bfloat16));
    if (tasks_of_b + tasks_of_a > 0)
      parallel_tasks(device, "encore::gemm_pack", tasks_of_b + tasks_of_a, [=](std::int64_t task) {
        if (task < tasks_of_b)
          pack(b, task, p.b, p.transpose_b, nullptr);
        else
          pack(a, task - tasks_of_b, p.a, !p.transpose_a, sums.of(task - tasks_of_b));
      });
    if (p.c.dtype == DType::float32)
      multiply_blocks<float>(device, p, a, b, sums);
    else
      multiply_blocks<bfloat16>(device, p, a, b, sums);
  }

 private:
  static Panels panels_of(const Tensor& weight, void* data) {
    return {static_cast<bfloat16*>(data), weight.extent(0), weight.extent(1)};
  }

  template <class C>
  static void multiply_blocks(const Device& device, const Product& p, const Panels& a, const Panels& b,
                              const FirstSums& sums) {
    const std::int64_t blocks = (p.rows() + block_rows - 1) / block_rows;
    const PairRows rows{a.outer == 0 ? elements<bfloat16>(p.a) : nullptr, p.inner()};
    const bool relu_derivative = p.derivative == kernels::Activation::relu;  // while it is stored
    const C* saved = p.saved ? elements<C>(p.saved) : nullptr;
    const Result<C> to{.c = elements<C>(p.c),
                       .row = p.columns(),
                       .bias = p.bias ? elements<float>(p.bias) : nullptr,
                       .relu = p.relu,
                       .accumulate = p.accumulate,
                       .positive = relu_derivative ? saved : nullptr,
                       .read_next = saved};
    parallel_tasks(device, "encore::gemm", blocks * b.count(), [=](std::int64_t task) {
      const std::int64_t begin = task / b.count() * block_rows;
      const std::int64_t end = std::min(p.rows(), begin + block_rows);
      const std::int64_t panel = task % b.count();
      if (a.outer == 0)
        multiply_panel(begin, end, rows, b, panel, to);
      else
        multiply_panel(begin, end, a, b, panel, to);
      if (!relu_derivative) apply_derivative<C>(p, {begin, end - begin, panel * panel_rows, b.extent(panel)});
      if (panel == 0 && p.sums) sums.add_to(begin, end, elements<float>(p.sums));
    });
  }

  std::unique_ptr<GemmLibrary> other_;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_bfloat16_gemm(std::unique_ptr<GemmLibrary> other) {
  return std::make_unique<Bfloat16Gemm>(std::move(other));
}

#else

std::unique_ptr<GemmLibrary> make_bfloat16_gemm(std::unique_ptr<GemmLibrary> other) {
  return other;
}

#endif

}  // namespace encore
