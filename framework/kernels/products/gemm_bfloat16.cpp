// SPDX-License-Identifier: BSD-3-Clause
// Computes products of bfloat16 matrices on a CPU with AVX512_BF16, for kernels::gemm, by tiles of our own
// (bfloat16_tile.hpp, read next). They are about 1.1 times as fast as oneDNN 2.6.3 at the shapes of an
// encoder, packing included. No sum may be cut, so that the cut into tasks decides no bit. A CPU with AMX
// uses gemm_amx.cpp instead.
//
// First b is packed into panels, one task for each. Then each task computes a block of rows of c. Rows of a
// are read in place if the two elements of each pair are neighbours in memory. Otherwise (for weight
// gradients, or an odd inner extent) a task packs the rows of its block into memory of its thread, which
// stays in the cache until it is multiplied. Sums of a's columns are made while its rows are packed.
#include <encore/device.hpp>
#include <encore/view.hpp>

#include "kernels/products/bfloat16_packing.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/products/host_tiles.hpp"

namespace encore::kernels {

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace {

using namespace pairs;

/// How c is cut into tasks: blocks of its rows, times groups of b's panels.
struct Cut {
  static constexpr std::int64_t most_rows = 4 * panel_rows;  // of a, packed for one task
  std::int64_t rows, blocks, panels, groups;

  /// Cuts products whose rows of a are read where they lie. b's panel stays in the first cache.
  static Cut plain(const Product& p, const Panels& b) {
    constexpr std::int64_t rows = 2 * panel_rows;
    return {rows, (p.rows() + rows - 1) / rows, 1, b.count()};
  }
  /// Cuts products in which a task packs its rows of a: as many as possible, because each block reads all of
  /// b; but every thread gets a task, if necessary with a part of b, for which rows are packed again.
  static Cut packed(const Product& p, const Panels& b, std::int64_t threads) {
    const std::int64_t panels_of_a = (p.rows() + panel_rows - 1) / panel_rows;
    const std::int64_t rows = std::clamp(panels_of_a / threads * panel_rows, panel_rows, most_rows);
    const std::int64_t blocks = (p.rows() + rows - 1) / rows;
    const std::int64_t most = std::min(b.count(), (threads + blocks - 1) / blocks);
    const std::int64_t panels = (b.count() + most - 1) / most;
    return {rows, blocks, panels, (b.count() + panels - 1) / panels};
  }
  std::int64_t tasks() const { return blocks * groups; }
};

/// The rows of a that belong to c's from `begin` on, packed.
struct PackedBlock {
  Panels panels;
  std::int64_t begin;

  PairRows from(std::int64_t row) const { return panels.from(row - begin); }
  std::int64_t end_of_panel(std::int64_t row) const { return begin + panels.end_of_panel(row - begin); }
};

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
                   [=](std::int64_t task) { pack(panels, task, weight, true); });
  }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype != DType::bfloat16) return other_->multiply(device, p);
    Panels b{nullptr, p.columns(), p.inner()};
    const bool pack_a = p.transpose_a || p.inner() % 2 != 0;
    const Kokkos::Experimental::UniqueToken<ExecutionSpace> thread;
    const Cut cut = pack_a ? Cut::packed(p, b, thread.size()) : Cut::plain(p, b);
    const Panels a{nullptr, pack_a ? cut.rows : 0, p.inner()};
    const std::size_t packed_b = p.layout != nullptr ? 0 : b.bytes();
    auto* const workspace = static_cast<std::byte*>(
        device.workspace(packed_b + a.bytes() * static_cast<std::size_t>(thread.size())));
    // The const_cast is safe because a layout is only read.
    b.data = static_cast<bfloat16*>(p.layout != nullptr ? const_cast<void*>(p.layout) : workspace);
    if (p.layout == nullptr)
      parallel_tasks(device, "encore::gemm_pack", pack_tasks(b, p.transpose_b),
                     [=](std::int64_t task) { pack(b, task, p.b, p.transpose_b); });
    const auto multiply_in = [&](auto result) {
      using C = decltype(result);
      parallel_tasks(device, "encore::gemm", cut.tasks(), [=](std::int64_t task) {
        const std::int64_t block = task / cut.groups, group = task % cut.groups;
        if (!pack_a)
          return multiply_block<C>(p, cut, block, group, PairRows{elements<bfloat16>(p.a), p.inner()}, b);
        const int slot = thread.acquire();
        PackedBlock rows{a, block * cut.rows};
        rows.panels.data =
            reinterpret_cast<bfloat16*>(workspace + packed_b + a.bytes() * static_cast<std::size_t>(slot));
        rows.panels.outer = std::min(cut.rows, p.rows() - rows.begin);
        pack_block(p, rows, group == 0);
        multiply_block<C>(p, cut, block, group, rows, b);
        thread.release(slot);
      });
    };
    if (p.c.dtype == DType::float32)
      multiply_in(float());
    else
      multiply_in(bfloat16());
  }

 private:
  static Panels panels_of(const Tensor& weight, void* data) {
    return {static_cast<bfloat16*>(data), weight.extent(0), weight.extent(1)};
  }

  /// Packs a block; with `sums` also computes the sums of a's columns, if the product asks for them.
  static void pack_block(const Product& p, const PackedBlock& rows, bool sums) {
    const Panels& to = rows.panels;
    const std::int64_t row = p.a.extent(1);
    const bfloat16* const from = elements<bfloat16>(p.a) + rows.begin * (p.transpose_a ? 1 : row);
    if (!p.transpose_a) {
      for (std::int64_t panel = 0; panel < to.count(); ++panel) pack_columns(to, panel, from, row);
      return;
    }
    if (!sums || !p.sums) return pack_rows(to, 0, p.inner(), from, row);
    float of_chunk[Cut::most_rows];
    float* const all = elements<float>(p.sums) + rows.begin;
    for (std::int64_t k = 0; k < p.inner(); k += packed_rows) {
      pack_rows<true>(to, k, std::min(p.inner(), k + packed_rows), from, row, of_chunk);
      for (std::int64_t c = 0; c < to.outer; ++c) all[c] += of_chunk[c];
    }
  }

  /// A: PairRows or PackedBlock.
  template <class C, class A>
  static void multiply_block(const Product& p, const Cut& cut, std::int64_t block, std::int64_t group,
                             const A& a, const Panels& b) {
    const bool relu_derivative = p.derivative == kernels::Activation::relu;  // while it is stored
    const C* const saved = p.saved ? elements<C>(p.saved) : nullptr;
    const Result<C> to{.c = elements<C>(p.c),
                       .row = p.columns(),
                       .bias = p.bias ? elements<float>(p.bias) : nullptr,
                       .relu = p.relu,
                       .accumulate = p.accumulate,
                       .positive = relu_derivative ? saved : nullptr,
                       .read_next = saved};
    const std::int64_t begin = block * cut.rows, end = std::min(p.rows(), begin + cut.rows);
    const std::int64_t first = group * cut.panels, last = std::min(b.count(), first + cut.panels);
    for (std::int64_t panel = first; panel < last; ++panel) {
      multiply_panel(begin, end, a, b, panel, to);
      if (!relu_derivative) apply_derivative<C>(p, {begin, end - begin, panel * panel_rows, b.extent(panel)});
    }
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

}  // namespace encore::kernels
