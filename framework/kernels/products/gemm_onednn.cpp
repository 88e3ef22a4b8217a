// SPDX-License-Identifier: BSD-3-Clause
// Computes float32 and bfloat16 products on the host by oneDNN, for kernels::gemm (gemm.cpp). bfloat16 needs
// a CPU with AVX-512, and is used only where gemm_bfloat16.cpp cannot compute it. A tile is one primitive for
// one thread (onednn_tile.hpp). How a product is cut must depend on its shapes only, never on threads.
//
// A multi-threaded oneDNN primitive cuts its work by the number of threads, and with it the bits. So this
// file cuts C into tiles whose sizes depend on the shapes only. A tile is a primitive that is made for one
// thread and run by one thread of a parallel region. K is never cut. Tiles of equal shape share one
// primitive. Each thread passes its own scratchpad, because threads would overwrite a shared one. Making a
// primitive takes about 0.1 ms; shapes recur, so it is rare.
//
// Weights that several tiles of rows read are first copied into the order that oneDNN reads fastest;
// otherwise each tile would copy them again. In float32 this saves time if the weights are transposed (12 %
// of the time of x W^T with 896 rows). In bfloat16 the fastest kernel of oneDNN needs weights that are
// ordered by pairs, and whole rows of c, so a tile is a strip of rows. Weights of float32 that do not change
// are copied once (lay_out), in the order for full tiles of rows, which tiles of every height then read. If
// oneDNN computes by blocks of b, the order of b changes no bit. Without AVX-512 oneDNN chooses among kernels
// by the height of a tile, so nothing is laid out.
#ifdef ENCORE_HAVE_ONEDNN

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <encore/device.hpp>

#include "kernels/products/gemm.hpp"
#include "kernels/products/host_tiles.hpp"
#include "kernels/products/onednn_tile.hpp"

namespace encore::kernels {
namespace {

using dnnl::memory;

/// Memory that grows when a larger shape comes.
class Reserve {
 public:
  char* at_least(std::size_t bytes) {
    if (memory_.size() < bytes) {
      memory_ = {};
      memory_ = Kokkos::View<char*, DeviceMemory>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "encore::gemm_memory"), bytes);
    }
    return memory_.data();
  }

 private:
  Kokkos::View<char*, DeviceMemory> memory_;
};

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

/// Cuts `count` into tiles of `size`; the last one may be smaller.
struct Tiling {
  std::int64_t count;
  std::int64_t size;
  std::int64_t tiles() const { return (count + size - 1) / size; }
  std::int64_t begin(std::int64_t tile) const { return tile * size; }
  std::int64_t extent(std::int64_t tile) const { return std::min(size, count - tile * size); }
};

/// Makes equal tiles of at most `limit` in multiples of 16 (a vector of float32).
Tiling equal_tiles(std::int64_t count, std::int64_t limit) {
  const std::int64_t tiles = (count + limit - 1) / limit;
  return {count, std::max<std::int64_t>(16, ((count + tiles - 1) / tiles + 15) / 16 * 16)};
}

/// Returns what oneDNN dispatches by: the processor's instructions, unless ONEDNN_MAX_CPU_ISA allows fewer,
/// and ONEDNN_CPU_ISA_HINTS. Either decides the order of sums, and so the bits.
std::string dispatch_name() {
  using Isa = dnnl::cpu_isa;
  constexpr std::pair<Isa, const char*> names[] = {{Isa::sse41, "sse41"},
                                                   {Isa::avx, "avx"},
                                                   {Isa::avx2, "avx2"},
                                                   {Isa::avx2_vnni, "avx2_vnni"},
                                                   {Isa::avx512_core, "avx512_core"},
                                                   {Isa::avx512_core_vnni, "avx512_core_vnni"},
                                                   {Isa::avx512_core_bf16, "avx512_core_bf16"},
                                                   {Isa::avx512_core_amx, "avx512_core_amx"}};
  const Isa isa = dnnl::get_effective_cpu_isa();
  std::string name = "instruction set " + std::to_string(static_cast<unsigned>(isa));
  for (const auto& [known, its_name] : names)
    if (known == isa) name = its_name;
  const bool short_vectors = dnnl::get_cpu_isa_hints() == dnnl::cpu_isa_hints::prefer_ymm;
  return short_vectors ? name + ", prefer_ymm" : name;
}

class OneDnnGemm final : public GemmLibrary {
 public:
  explicit OneDnnGemm(std::unique_ptr<GemmLibrary> other)
      : other_(std::move(other)), cpu_(dnnl::engine::kind::cpu, 0), has_bfloat16_(can_make_bfloat16(cpu_)) {}

  std::string name() const override {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + " (" + dispatch_name() + ")";
  }

  bool multiplies(DType type) const override { return is_own(type) || other_->multiplies(type); }

  std::int64_t prepared() const override { return prepared_; }

  std::size_t layout_bytes(const Tensor& weight) const override {
    if (!is_own(weight.dtype)) return other_->layout_bytes(weight);
    if (weight.dtype != DType::float32) return 0;
    const std::lock_guard lock(mutex_);
    const Plan plan = plan_tiles(laid_out_by(weight));
    return plan.by_blocks() ? plan.packed_bytes() : 0;
  }

  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    if (!is_own(weight.dtype)) return other_->lay_out(device, weight, to);
    const std::lock_guard lock(mutex_);
    const Product product = laid_out_by(weight);
    Plan plan = plan_tiles(product);
    plan.packed_b = static_cast<char*>(to);
    pack(device, plan, product);
  }

  void multiply(const Device& device, const Product& product) override {
    if (!is_own(product.a.dtype)) return other_->multiply(device, product);
    const std::lock_guard lock(mutex_);
    Plan plan = plan_tiles(product);
    if (product.layout != nullptr) {
      plan.packed_b = static_cast<char*>(const_cast<void*>(product.layout));  // it is only read
    } else if (plan.packed) {
      plan.packed_b = packed_.at_least(plan.packed_bytes());
      pack(device, plan, product);
    }
    parallel(device, "encore::gemm", plan.rows.tiles() * plan.columns.tiles(), plan,
             [&](std::int64_t index, char* scratch) {
               const std::int64_t r = index / plan.columns.tiles(), c = index % plan.columns.tiles();
               if (c == 0 && product.sums) add_sums(product, plan.rows, r);
               multiply_tile(plan, product, r, c, scratch);
               end_tile(product, {plan.rows.begin(r), plan.rows.extent(r), plan.columns.begin(c),
                                  plan.columns.extent(c)});
             });
  }

 private:
  bool is_own(DType type) const {
    return type == DType::float32 || (type == DType::bfloat16 && has_bfloat16_);
  }

  static constexpr std::size_t most_primitives = 4096;
  static constexpr std::int64_t full_rows = 128;  // of a tile of x W^T
  static constexpr std::int64_t least_tiles = 4;  // of a weight gradient

  /// Returns a product with full tiles of rows, whose order of b is that in which the weight is laid out. It
  /// has no data of its own.
  static Product laid_out_by(const Tensor& weight) {
    const std::int64_t out = weight.extent(0), in = weight.extent(1);
    return {.a = Tensor(nullptr, weight.dtype, {2 * full_rows, in}),
            .b = weight,
            .c = Tensor(nullptr, weight.dtype, {2 * full_rows, out}),
            .transpose_b = true};
  }

  /// Says how one product is cut: the tiles and their primitives, and the places of packed operands.
  struct Plan {
    Tiling rows;
    Tiling columns;
    std::array<const TileProduct*, 4>
        tiles;  // an inner one, one in the last column, in the last row, in both
    bool packed;
    bool laid_out = false;
    char* packed_b = nullptr;
    std::size_t packed_stride = 0;
    std::size_t scratch_bytes = 0;

    const TileProduct& tile(bool last_row, std::int64_t column) const {
      return *tiles[(last_row ? 2U : 0U) + (column + 1 == columns.tiles() ? 1U : 0U)];
    }
    /// Returns 2 if the last row's tiles have b in an order of their own.
    std::int64_t orders() const { return tiles[0]->b == tiles[2]->b && tiles[1]->b == tiles[3]->b ? 1 : 2; }
    /// Returns the largest number of tasks in which the b of one tile is packed.
    std::int64_t pieces() const { return static_cast<std::int64_t>(tiles[0]->packs.size()); }
    char* packed_tile(bool last_row, std::int64_t column) const {
      const std::int64_t order = last_row ? orders() - 1 : 0;
      return packed_b + static_cast<std::size_t>(order * columns.tiles() + column) * packed_stride;
    }
    bool by_blocks() const {
      return std::ranges::all_of(tiles, [](const TileProduct* tile) { return tile->by_blocks; });
    }
    std::size_t packed_bytes() const {
      return static_cast<std::size_t>(orders() * columns.tiles()) * packed_stride;
    }
  };

  /// A weight gradient of 128 x 128 would be one tile, and so one thread's work: the longer side is halved
  /// until there are a few tiles. Smaller ones take less than the overhead of oneDNN for tiles that are not a
  /// whole matrix.
  static Plan cut_gradient(const Product& p) {
    Tiling rows = equal_tiles(p.rows(), 192), columns = equal_tiles(p.columns(), 384);
    const bool worth_it = std::min(p.rows(), p.columns()) >= 128;
    while (worth_it && rows.tiles() * columns.tiles() < least_tiles &&
           std::max(rows.size, columns.size) > 64) {
      Tiling& longer = columns.size >= rows.size ? columns : rows;
      longer = equal_tiles(longer.count, longer.size / 2);
    }
    return {rows, columns, {}, false};
  }

  /// Rows come in whole tiles and one remainder, because a batch's number of tokens varies; columns of
  /// weights, and both sides of a weight gradient, belong to the model and are cut evenly.
  static Plan cut(const Product& p) {
    if (p.transpose_a) return cut_gradient(p);
    const bool strips = p.a.dtype == DType::bfloat16;
    Plan plan{
        {p.rows(), strips ? 64 : full_rows}, equal_tiles(p.columns(), strips ? p.columns() : 192), {}, false};
    plan.laid_out = p.layout != nullptr;
    plan.packed = plan.laid_out || ((p.transpose_b || strips) && plan.rows.tiles() > 1);
    return plan;
  }

  /// Plans everything except the places of packed operands.
  Plan plan_tiles(const Product& p) const {
    Plan plan = cut(p);
    if (products_.size() + 2 * plan.tiles.size() > most_primitives) products_.clear();
    for (std::size_t corner = 0; corner < plan.tiles.size(); ++corner) {
      const std::int64_t height = plan.rows.extent(corner >= 2 ? plan.rows.tiles() - 1 : 0);
      const std::int64_t width = plan.columns.extent(corner % 2 == 1 ? plan.columns.tiles() - 1 : 0);
      const OnednnTileShape shape{.rows = height,
                                  .columns = width,
                                  .inner = p.inner(),
                                  .a_row = p.a.extent(1),
                                  .b_row = p.b.extent(1),
                                  .c_row = p.c.extent(1),
                                  .transpose_a = p.transpose_a,
                                  .transpose_b = p.transpose_b,
                                  .bias = static_cast<bool>(p.bias),
                                  .relu = p.relu,
                                  .accumulate = p.accumulate,
                                  .packed = plan.packed && !plan.laid_out,
                                  .laid_out = plan.laid_out,
                                  .in = p.a.dtype,
                                  .out = p.c.dtype};
      const TileProduct& tile = tile_of(shape);
      plan.tiles[corner] = &tile;
      plan.scratch_bytes = std::max(plan.scratch_bytes, whole_pages(tile.scratch.get_size()));
      if (!plan.packed) continue;
      for (const Pack& pack : tile.packs)
        plan.scratch_bytes = std::max(plan.scratch_bytes, whole_pages(pack.scratch.get_size()));
      plan.packed_stride = std::max(plan.packed_stride, whole_pages(tile.b.get_size()));
    }
    return plan;
  }

  /// Returns a tile from those made before, which no other call removes.
  const TileProduct& tile_of(const OnednnTileShape& shape) const {
    if (const auto found = products_.find(shape); found != products_.end()) return found->second;
    ++prepared_;
    if (!shape.laid_out) return products_.emplace(shape, make_tile_product(cpu_, shape)).first->second;
    OnednnTileShape full = shape;  // as laid_out_by and plan_tiles have it
    full.rows = full_rows;
    full.packed = true;
    full.bias = full.relu = full.accumulate = full.laid_out = false;
    const memory::desc order = tile_of(full).b;
    return products_.emplace(shape, make_tile_product(cpu_, shape, order)).first->second;
  }

  /// Converts b to the order of the tiles; those in the last row may need another order than the others.
  void pack(const Device& device, const Plan& plan, const Product& product) {
    const std::int64_t pieces = plan.pieces(), columns = plan.columns.tiles();
    parallel(device, "encore::gemm_pack", plan.orders() * columns * pieces, plan,
             [&](std::int64_t index, char* scratch) {
               pack_tile(plan, product, index / pieces % columns, index % pieces, index >= columns * pieces,
                         scratch);
             });
  }

  /// Calls body(index, scratch) for each tile, with scratch memory of the thread.
  template <class Body>
  void parallel(const Device& device, const char* label, std::int64_t tiles, const Plan& plan,
                const Body& body) {
    const Kokkos::Experimental::UniqueToken<ExecutionSpace> thread;
    char* scratch = scratch_.at_least(static_cast<std::size_t>(thread.size()) * plan.scratch_bytes);
    std::atomic<bool> failed = false;
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>,
                                             Kokkos::Schedule<Kokkos::Dynamic>>(device.space(), 0, tiles,
                                                                                Kokkos::ChunkSize(1)),
                         [&](const std::int64_t index) {
                           const int slot = thread.acquire();
                           try {
                             body(index, scratch + static_cast<std::size_t>(slot) * plan.scratch_bytes);
                           } catch (const std::exception&) {  // none may leave a parallel region
                             failed = true;
                           }
                           thread.release(slot);
                         });
    if (failed) throw Error("oneDNN could not compute a matrix product; is there enough memory?");
  }

  static char* at(const Tensor& tensor, std::int64_t i, std::int64_t j) {
    return static_cast<char*>(tensor.data) +
           static_cast<std::size_t>(i * tensor.extent(1) + j) * size_of(tensor.dtype);
  }
  static char* b_tile(const Product& p, std::int64_t column) {
    return p.transpose_b ? at(p.b, column, 0) : at(p.b, 0, column);
  }

  void pack_tile(const Plan& plan, const Product& p, std::int64_t c, std::int64_t piece, bool last_row,
                 char* scratch) const {
    const TileProduct& tile = plan.tile(last_row, c);
    if (piece >= static_cast<std::int64_t>(tile.packs.size())) return;
    const Pack& pack = tile.packs[static_cast<std::size_t>(piece)];
    const dnnl::stream queue(cpu_);
    pack.primitive.execute(
        queue, {{DNNL_ARG_FROM, memory(pack.from, cpu_, b_tile(p, plan.columns.begin(c) + pack.column))},
                {DNNL_ARG_TO, memory(pack.to, cpu_, plan.packed_tile(last_row, c))},
                {DNNL_ARG_SCRATCHPAD, memory(pack.scratch, cpu_, scratch)}});
  }

  void multiply_tile(const Plan& plan, const Product& p, std::int64_t r, std::int64_t c,
                     char* scratch) const {
    const bool last_row = r + 1 == plan.rows.tiles();
    const TileProduct& tile = plan.tile(last_row, c);
    const std::int64_t row = plan.rows.begin(r);
    const std::int64_t column = plan.columns.begin(c);
    const dnnl::stream queue(cpu_);
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, memory(tile.a, cpu_, p.transpose_a ? at(p.a, 0, row) : at(p.a, row, 0))},
        {DNNL_ARG_WEIGHTS,
         memory(tile.b, cpu_, plan.packed ? plan.packed_tile(last_row, c) : b_tile(p, column))},
        {DNNL_ARG_DST, memory(tile.c, cpu_, at(p.c, row, column))},
        {DNNL_ARG_SCRATCHPAD, memory(tile.scratch, cpu_, scratch)}};
    if (p.bias)
      arguments.emplace(DNNL_ARG_BIAS, memory(tile.bias, cpu_, static_cast<float*>(p.bias.data) + column));
    tile.primitive.execute(queue, arguments);
  }

  /// Sums a's columns before the product, which then finds them in the cache.
  static void add_sums(const Product& p, const Tiling& rows, std::int64_t r) {
    if (p.a.dtype == DType::bfloat16)
      add_column_sums<bfloat16>(p, rows.begin(r), rows.extent(r));
    else
      add_column_sums<float>(p, rows.begin(r), rows.extent(r));
  }

  static void end_tile(const Product& p, const Tile& tile) {
    if (p.c.dtype == DType::bfloat16)
      apply_derivative<bfloat16>(p, tile);
    else
      apply_derivative<float>(p, tile);
  }

  std::unique_ptr<GemmLibrary> other_;
  dnnl::engine cpu_;
  bool has_bfloat16_;
  mutable std::mutex mutex_;  // one product at a time: they share memory
  mutable std::map<OnednnTileShape, TileProduct> products_;
  mutable std::int64_t prepared_ = 0;
  Reserve scratch_;
  Reserve packed_;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_onednn_gemm(std::unique_ptr<GemmLibrary> other) {
  return std::make_unique<OneDnnGemm>(std::move(other));
}

}  // namespace encore::kernels

#endif
