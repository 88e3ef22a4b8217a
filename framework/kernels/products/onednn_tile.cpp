// SPDX-License-Identifier: BSD-3-Clause
// Implements onednn_tile.hpp: describes a tile of a product to oneDNN as a matmul for one thread, and makes
// its primitive, which takes about 0.1 ms. gemm_onednn.cpp calls make_tile_product(), keeps the primitives
// and runs them. A tile must depend on shapes only, never on threads, or bits would change. Read
// onednn_tile.hpp first.
#ifdef ENCORE_HAVE_ONEDNN

#include "kernels/products/onednn_tile.hpp"

#include <algorithm>
#include <string_view>

#include <omp.h>

namespace encore::kernels {
namespace {

using dnnl::memory;

memory::data_type type_of(DType type) {
  return type == DType::bfloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// oneDNN reads the number of threads from OpenMP when a primitive is made.
class OneThread {
 public:
  OneThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int threads_;
};

dnnl::matmul::primitive_desc describe(const dnnl::engine& cpu, const memory::desc& a, const memory::desc& b,
                                      const memory::desc& bias, const memory::desc& c,
                                      const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {cpu, a, b, bias, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, bias, c), attributes, cpu};
#endif
}

void append_relu(dnnl::post_ops& epilogue) {
#if DNNL_VERSION_MAJOR >= 3
  epilogue.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
  epilogue.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
}

constexpr std::int64_t pack_columns = 192;  // of one task

std::vector<Pack> make_packs(const dnnl::engine& cpu, const OnednnTileShape& s, const memory::desc& b) {
  std::vector<Pack> packs;
  for (std::int64_t column = 0; column < s.columns; column += pack_columns) {
    const memory::dims extents = {s.inner, std::min(pack_columns, s.columns - column)};
    const memory::desc from(extents, type_of(s.in),
                            s.transpose_b ? memory::dims{1, s.b_row} : memory::dims{s.b_row, 1});
    const memory::desc to = b.submemory_desc(extents, {0, column});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc pack(cpu, from, cpu, to, attributes);
    packs.push_back({dnnl::reorder(pack), from, to, pack.scratchpad_desc(), column});
  }
  return packs;
}

}  // namespace

TileProduct make_tile_product(const dnnl::engine& cpu, const OnednnTileShape& s, const memory::desc& order) {
  const memory::desc a({s.rows, s.inner}, type_of(s.in),
                       s.transpose_a ? memory::dims{1, s.a_row} : memory::dims{s.a_row, 1});
  const memory::desc plain_b({s.inner, s.columns}, type_of(s.in),
                             s.transpose_b ? memory::dims{1, s.b_row} : memory::dims{s.b_row, 1});
  const memory::desc any_b({s.inner, s.columns}, type_of(s.in), memory::format_tag::any);
  const memory::desc c({s.rows, s.columns}, type_of(s.out), memory::dims{s.c_row, 1});
  const memory::desc bias =
      s.bias ? memory::desc({1, s.columns}, memory::data_type::f32, memory::dims{s.columns, 1})
             : memory::desc();
  dnnl::post_ops epilogue;
  if (s.accumulate) epilogue.append_sum(1.0F);
  if (s.relu) append_relu(epilogue);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attributes.set_post_ops(epilogue);
  const OneThread made_for_one_thread;
  const auto description = describe(cpu, a,
                                    s.laid_out ? order
                                    : s.packed ? any_b
                                               : plain_b,
                                    bias, c, attributes);
  TileProduct product{.primitive = dnnl::matmul(description),
                      .a = a,
                      .b = description.weights_desc(),
                      .c = c,
                      .bias = bias,
                      .scratch = description.scratchpad_desc(),
                      .packs = {},
                      .by_blocks = std::string_view(description.impl_info_str()).starts_with("brg")};
  if (s.packed) product.packs = make_packs(cpu, s, product.b);
  return product;
}

bool can_make_bfloat16(const dnnl::engine& cpu) {
  try {
    make_tile_product(cpu, {16, 16, 16, 16, 16, 16, false, false, false, false, false, false, false,
                            DType::bfloat16, DType::bfloat16});
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace encore::kernels

#endif
