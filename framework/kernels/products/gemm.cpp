// SPDX-License-Identifier: BSD-3-Clause
// Implements kernels::gemm, c (M, N) = op(a) (M, K) op(b) (K, N): checks the arguments, chooses the library
// of the device (DeviceGemm), and opens a region around each product while a profiling tool listens.
// kernels::linear and layers call it. Two rules must hold for every library (gemm.hpp, read it first): the
// bits of a result never depend on the number of threads, and the math mode is set here, not inherited from
// the environment. A layout is a copy of a weight in the order that one library reads fastest
// (WeightLayouts).
#include "kernels/products/gemm.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"
#include "kernels/products/amx_tiles.hpp"
#include "kernels/products/product_label.hpp"

namespace encore::kernels {
namespace {

/// Passes each product to one of its libraries, and opens a region around it while a profiling tool listens.
class DeviceGemm final : public GemmLibrary {
 public:
  /// `invariant`: the library for batch-invariant products (BatchInvariance); `int8` and `int4`: the
  /// libraries for quantized weights (QuantizedProducts). Null: this backend has no such library.
  explicit DeviceGemm(std::unique_ptr<GemmLibrary> library, std::unique_ptr<GemmLibrary> invariant = nullptr,
                      std::unique_ptr<GemmLibrary> int8 = nullptr,
                      std::unique_ptr<GemmLibrary> int4 = nullptr)
      : library_(std::move(library)),
        invariant_(std::move(invariant)),
        int8_(std::move(int8)),
        int4_(std::move(int4)) {}

  std::string name() const override { return library_->name(); }
  bool multiplies(DType type) const override { return library_->multiplies(type); }
  std::int64_t prepared() const override { return library_->prepared(); }
  std::size_t layout_bytes(const Tensor& weight) const override { return library_->layout_bytes(weight); }
  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    library_->lay_out(device, weight, to);
  }

  GemmLibrary& invariant() override { return invariant_ ? *invariant_ : *library_; }
  GemmLibrary* quantized(int bits) override { return bits == 4 ? int4_.get() : int8_.get(); }

  void multiply(const Device& device, const Product& product) override {
    Product with_layout = product;
    if (reads_activations(product) &&
        (with_layout.layout = layout_in(quantized_weights(), product)) != nullptr)
      return multiply(*quantized_weights()->library_of(product.b), device, with_layout);
    const bool invariant = batch_invariant() && invariant_;
    with_layout.layout = layout_in(layouts(), product);
    multiply(invariant ? *invariant_ : *library_, device, with_layout);
  }

 private:
  /// Returns the copy of the weight b in `layouts`; null if there is none.
  static const void* layout_in(const WeightLayouts* layouts, const Product& product) {
    return layouts != nullptr && product.transpose_b ? layouts->find(product.b) : nullptr;
  }
  /// Returns whether this is the product of a forward pass, activations times a weight: only these are
  /// computed with quantized weights. A gradient has another form.
  static bool reads_activations(const Product& p) {
    return p.transpose_b && !p.transpose_a && !p.accumulate && p.derivative == kernels::Activation::none &&
           p.c.dtype == p.a.dtype;
  }
  static void multiply(GemmLibrary& library, const Device& device, const Product& product) {
    if (!Kokkos::Tools::profileLibraryLoaded()) return library.multiply(device, product);
    const Kokkos::Profiling::ScopedRegion region(product_label(product));
    library.multiply(device, product);
  }

  std::unique_ptr<GemmLibrary> library_, invariant_, int8_, int4_;
};

}  // namespace

bool WeightLayouts::contains(const Tensor& weight) const {
  const auto entry = entries_.find(weight.data);
  if (entry == entries_.end()) return false;
  const Tensor& known = entry->second.weight;
  return known.dtype == weight.dtype && known.rank == weight.rank && known.extents == weight.extents;
}

const void* WeightLayouts::find(const Tensor& weight) const {
  if (!contains(weight)) return nullptr;
  const Entry& entry = entries_.at(weight.data);
  entry.found = true;
  return entry.layout;
}

bool WeightLayouts::was_found(const Tensor& weight) const {
  const auto entry = entries_.find(weight.data);
  return entry != entries_.end() && entry->second.found;
}

std::unique_ptr<GemmLibrary> make_gemm_library() {
#if defined(ENCORE_HAVE_CUBLASLT)
  return std::make_unique<DeviceGemm>(make_cublaslt_gemm());
#elif !ENCORE_HOST_BACKEND
  return std::make_unique<DeviceGemm>(make_portable_gemm());
#else
  auto library = make_portable_gemm();
#if defined(ENCORE_HAVE_ONEDNN)
  library = make_onednn_gemm(std::move(library));
#endif
  const amx::Permission& tiles = amx::permission();
  const auto make_bfloat16 = tiles.bfloat16 ? &make_amx_gemm : &make_bfloat16_gemm;
  auto int8 = tiles.bytes ? make_amx_integer_gemm() : make_integer_gemm(8);
  return std::make_unique<DeviceGemm>(make_bfloat16(std::move(library)), make_bfloat16(make_portable_gemm()),
                                      std::move(int8), make_integer_gemm(4));
#endif
}

}  // namespace encore::kernels

namespace encore::kernels {

void gemm(const Device& device, Tensor a, Transpose transpose_a, Tensor b, Transpose transpose_b, Tensor c,
          bool accumulate) {
  check_rank("c", c, 2);
  check_rank("a", a, 2);
  const bool ta = transpose_a == Transpose::yes;
  const bool tb = transpose_b == Transpose::yes;
  const std::int64_t m = c.extent(0);
  const std::int64_t n = c.extent(1);
  const std::int64_t k = a.extent(ta ? 0 : 1);
  check("a", a, a.dtype, {ta ? k : m, ta ? m : k});
  check("b", b, a.dtype, {tb ? n : k, tb ? k : n});
  // The product of 16-bit matrices may also be kept as float32, as gradients of weights are.
  check("c", c, c.dtype == sum_type(a.dtype) ? c.dtype : a.dtype, {m, n});
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!accumulate) fill(device, 0.0, c);
    return;
  }
  device.gemm().multiply(device, {a, b, c, ta, tb, {}, false, accumulate});
}

}  // namespace encore::kernels
