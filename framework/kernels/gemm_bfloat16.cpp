// Products of bfloat16 matrices on a CPU with AVX512_BF16, by tiles of our own (bfloat16_tile.hpp): about
// 1.1 times as fast as oneDNN 2.6.3 at the shapes of an encoder, packing included. b is brought into panels
// first, each by one task; then a task computes a block of rows of c times one panel. Rows of a are read
// where they lie, if their pairs do: else (weight gradients; an odd inner extent) a goes through panels too.
// No sum is ever cut, so the cut into tasks decides no bit. With AMX oneDNN is faster, and stays.
#include <encore/device.hpp>
#include <encore/view.hpp>

#include "kernels/bfloat16_tile.hpp"
#include "kernels/gemm.hpp"

namespace encore {

#if ENCORE_HAVE_BFLOAT16_PAIRS && !defined(__AMX_BF16__)

namespace {

using namespace pairs;

constexpr std::int64_t block_rows =
    2 * panel_rows;                       // rows of c in a task: b's panel stays in the first cache
constexpr std::int64_t packed_rows = 64;  // of an operand stored (inner, outer), in a task

class Bfloat16Gemm final : public GemmLibrary {
 public:
  explicit Bfloat16Gemm(std::unique_ptr<GemmLibrary> other) : other_(std::move(other)) {}

  std::string name() const override { return other_->name() + ", bfloat16 by pairs (avx512_bf16)"; }
  bool multiplies(DType type) const override { return type == DType::bfloat16 || other_->multiplies(type); }
  std::int64_t prepared() const override { return other_->prepared(); }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype != DType::bfloat16) return other_->multiply(device, p);
    const bool pack_a = p.transpose_a || p.inner() % 2 != 0;
    Panels b{nullptr, p.columns(), p.inner()};
    Panels a{nullptr, pack_a ? p.rows() : 0, p.inner()};
    b.data = static_cast<bfloat16*>(device.workspace(b.bytes() + a.bytes()));
    a.data = b.data + b.bytes() / sizeof(bfloat16);
    const std::int64_t tasks_of_b = pack_tasks(b, p.transpose_b);
    const std::int64_t tasks_of_a = pack_a ? pack_tasks(a, !p.transpose_a) : 0;
    parallel(device, "encore::gemm_pack", tasks_of_b + tasks_of_a, [=](std::int64_t task) {
      if (task < tasks_of_b)
        pack(b, task, p.b, p.transpose_b);
      else
        pack(a, task - tasks_of_b, p.a, !p.transpose_a);
    });
    if (p.c.dtype == DType::float32)
      multiply_blocks<float>(device, p, a, b);
    else
      multiply_blocks<bfloat16>(device, p, a, b);
  }

 private:
  template <class Body>
  static void parallel(const Device& device, const char* label, std::int64_t tasks, const Body& body) {
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>,
                                             Kokkos::Schedule<Kokkos::Dynamic>>(device.space(), 0, tasks,
                                                                                Kokkos::ChunkSize(1)),
                         body);
  }

  /// Into how many tasks packing is cut, by panels where the operand is stored (outer, inner).
  static std::int64_t pack_tasks(const Panels& to, bool outer_first) {
    return outer_first ? to.count() : (to.inner + packed_rows - 1) / packed_rows;
  }

  static void pack(const Panels& to, std::int64_t task, const Tensor& from, bool outer_first) {
    if (outer_first)
      pack_columns(to, task, elements<bfloat16>(from), from.extent(1));
    else
      pack_rows(to, task * packed_rows, std::min(to.inner, (task + 1) * packed_rows),
                elements<bfloat16>(from), from.extent(1));
  }

  template <class C>
  static void multiply_blocks(const Device& device, const Product& p, const Panels& a, const Panels& b) {
    const std::int64_t blocks = (p.rows() + block_rows - 1) / block_rows;
    const PairRows rows{a.outer == 0 ? elements<bfloat16>(p.a) : nullptr, p.inner()};
    const Result<C> to{elements<C>(p.c), p.columns(), p.bias ? elements<float>(p.bias) : nullptr, p.relu,
                       p.accumulate};
    parallel(device, "encore::gemm", blocks * b.count(), [=](std::int64_t task) {
      const std::int64_t begin = task / b.count() * block_rows;
      const std::int64_t end = std::min(p.rows(), begin + block_rows);
      if (a.outer == 0)
        multiply_panel(begin, end, rows, b, task % b.count(), to);
      else
        multiply_panel(begin, end, a, b, task % b.count(), to);
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
