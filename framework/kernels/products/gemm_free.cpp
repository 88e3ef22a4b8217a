// SPDX-License-Identifier: BSD-3-Clause
// Computes products by oneDNN, with bits that may depend on the number of threads: one primitive for each
// shape, made for all threads, on plain row-major operands. Only `exp bench` calls it, to show what
// gemm_onednn.cpp pays for bits that do not depend on it.
#include "kernels/products/gemm.hpp"

#ifdef ENCORE_HAVE_ONEDNN

#include <map>
#include <tuple>

#include <encore/device.hpp>
#include <encore/elements.hpp>
#include <oneapi/dnnl/dnnl.hpp>

namespace encore::kernels {
namespace {

using dnnl::memory;

class FreeOneDnnGemm final : public GemmLibrary {
 public:
  FreeOneDnnGemm() : cpu_(dnnl::engine::kind::cpu, 0), queue_(cpu_) {}

  std::string name() const override { return "oneDNN, cut by the number of threads"; }
  /// Types for which oneDNN has no products go to the device's own library.
  bool multiplies(DType type) const override { return is_activation(type); }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype != DType::float32 && !(p.a.dtype == DType::bfloat16 && has_bfloat16_))
      return device.gemm().multiply(device, p);
    ENCORE_REQUIRE(!p.bias && !p.relu && !p.accumulate, "a bare product has no epilogue");
    const Bare& bare = find(p);
    bare.primitive.execute(queue_, {{DNNL_ARG_SRC, memory(bare.a, cpu_, p.a.data)},
                                    {DNNL_ARG_WEIGHTS, memory(bare.b, cpu_, p.b.data)},
                                    {DNNL_ARG_DST, memory(bare.c, cpu_, p.c.data)}});
    queue_.wait();
  }

 private:
  struct Bare {
    dnnl::matmul primitive;
    memory::desc a, b, c;
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, DType, DType>;

  static memory::data_type type_of(DType type) {
    return type == DType::bfloat16 ? memory::data_type::bf16 : memory::data_type::f32;
  }

  /// Describes a product to oneDNN. Throws dnnl::error if it has none of these types for this processor.
  dnnl::matmul::primitive_desc describe(const memory::desc& a, const memory::desc& b,
                                        const memory::desc& c) const {
    dnnl::primitive_attr attributes;
    attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
#if DNNL_VERSION_MAJOR >= 3
    return {cpu_, a, b, c, attributes};
#else
    return {dnnl::matmul::desc(a, b, c), attributes, cpu_};
#endif
  }

  /// Returns whether oneDNN has products of bfloat16 for this processor. Without AVX-512 it has none.
  bool probe_bfloat16() const {
    const memory::desc square({16, 16}, memory::data_type::bf16, memory::dims{16, 1});
    try {
      describe(square, square, square);
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }

  const Bare& find(const Product& p) {
    const Key key{p.rows(), p.columns(), p.inner(), p.transpose_a, p.transpose_b, p.a.dtype, p.c.dtype};
    const auto found = products_.find(key);
    if (found != products_.end()) return found->second;
    const memory::desc a({p.rows(), p.inner()}, type_of(p.a.dtype),
                         p.transpose_a ? memory::dims{1, p.rows()} : memory::dims{p.inner(), 1});
    const memory::desc b({p.inner(), p.columns()}, type_of(p.b.dtype),
                         p.transpose_b ? memory::dims{1, p.inner()} : memory::dims{p.columns(), 1});
    const memory::desc c({p.rows(), p.columns()}, type_of(p.c.dtype), memory::dims{p.columns(), 1});
    return products_.emplace(key, Bare{dnnl::matmul(describe(a, b, c)), a, b, c}).first->second;
  }

  dnnl::engine cpu_;
  dnnl::stream queue_;
  bool has_bfloat16_ = probe_bfloat16();
  std::map<Key, Bare> products_;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_free_gemm() {
  return std::make_unique<FreeOneDnnGemm>();
}

}  // namespace encore::kernels

#else

namespace encore::kernels {

std::unique_ptr<GemmLibrary> make_free_gemm() {
  return make_gemm_library();
}

}  // namespace encore::kernels

#endif
