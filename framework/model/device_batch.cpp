// Layout and upload of a batch: everything a pass reads, one array behind the other, one copy to the device.
#include "model/device_batch.hpp"

#include <algorithm>
#include <cstring>

#include "data/batches.hpp"

namespace encore {
namespace {

constexpr bool host_writes_device = Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;
/// Uploads between two waits for the device.
constexpr std::size_t ring_slots = 8;

/// Hands out aligned arrays of a slot, at equal offsets on the host and on the device.
class Writer {
 public:
  Writer(std::byte* host, std::byte* device) : host_(host), device_(device) {}

  template <class T>
  T* take(std::int64_t count, DType dtype, Tensor& tensor) {
    tensor = Tensor(device_ + used_, dtype, {count});
    T* result = reinterpret_cast<T*>(host_ + used_);
    used_ += aligned(tensor.bytes());
    return result;
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* host_;
  std::byte* device_;
  std::size_t used_ = 0;
};

/// All arrays of a batch whose shards each begin at an aligned address.
std::size_t slot_bytes(const BatchSize& largest, std::int64_t shards) {
  const auto n = static_cast<std::size_t>(largest.tokens);
  const auto b = static_cast<std::size_t>(largest.sequences + shards);
  const std::size_t row_bytes = 5 * sizeof(std::int32_t) + sizeof(std::int64_t);
  return aligned(n * row_bytes + b * sizeof(std::int32_t) +
                 static_cast<std::size_t>(shards) * 7 * tensor_alignment);
}

/// Rows sorted by token number, equal numbers in row order.
void sort_rows(std::span<const std::int32_t> ids, std::vector<std::uint64_t>& keys, std::int32_t* order) {
  keys.resize(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row)
    keys[row] = static_cast<std::uint64_t>(static_cast<std::uint32_t>(ids[row])) << 32 | row;
  std::sort(keys.begin(), keys.end());
  for (std::size_t k = 0; k < keys.size(); ++k) order[k] = static_cast<std::int32_t>(keys[k] & 0xffffffffU);
}

Shard write_shard(const PackedBatch& packed, SequenceRange range, std::vector<std::uint64_t>& keys,
                  Writer& writer) {
  const auto first = static_cast<std::size_t>(range.first);
  const std::int32_t begin = packed.offsets[first];
  const std::int32_t end = packed.offsets[static_cast<std::size_t>(range.last)];
  Shard shard;
  shard.first_row = begin;
  Batch& batch = shard.batch;
  batch.size.tokens = end - begin;
  batch.size.sequences = range.last - range.first;
  const std::int64_t n = batch.size.tokens;

  const auto copy_rows = [&](const std::vector<std::int32_t>& from, Tensor& to) {
    std::copy(from.begin() + begin, from.begin() + end, writer.take<std::int32_t>(n, DType::int32, to));
  };
  copy_rows(packed.ids, batch.ids);
  copy_rows(packed.positions, batch.positions);
  copy_rows(packed.targets, shard.targets);
  auto* offsets = writer.take<std::int32_t>(batch.size.sequences + 1, DType::int32, batch.offsets);
  auto* sequence = writer.take<std::int32_t>(n, DType::int32, batch.sequence);
  auto* examples = writer.take<std::int64_t>(n, DType::int64, batch.examples);
  auto* order = writer.take<std::int32_t>(n, DType::int32, batch.order);

  for (std::int64_t s = 0; s < batch.size.sequences; ++s) {
    const auto of_batch = first + static_cast<std::size_t>(s);
    offsets[s] = packed.offsets[of_batch] - begin;
    offsets[s + 1] = packed.offsets[of_batch + 1] - begin;
    std::fill(sequence + offsets[s], sequence + offsets[s + 1], static_cast<std::int32_t>(s));
    std::fill(examples + offsets[s], examples + offsets[s + 1], packed.examples[of_batch]);
    const std::int64_t length = offsets[s + 1] - offsets[s];
    batch.size.squares += length * length;
    batch.size.longest = std::max(batch.size.longest, length);
  }
  sort_rows({packed.ids.data() + begin, static_cast<std::size_t>(n)}, keys, order);
  return shard;
}

}  // namespace

DeviceBatch::DeviceBatch(const Device& device, const BatchSize& largest, std::int64_t shards)
    : device_(device), largest_(largest), shard_count_(shards) {
  ENCORE_REQUIRE(shards >= 1, "a batch has at least one shard");
  const std::size_t bytes = slot_bytes(largest, shards);
  memory_ = DeviceBuffer("encore::batch", bytes);
  if (!host_writes_device)
    staging_ =
        Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>("encore::batch_staging", ring_slots * bytes);
  sort_keys_.reserve(static_cast<std::size_t>(largest.tokens));
  shards_.reserve(static_cast<std::size_t>(shards));
}

void DeviceBatch::upload(const PackedBatch& batch) {
  size_ = batch.size();
  const auto rows = static_cast<std::size_t>(size_.tokens);
  ENCORE_REQUIRE(size_.tokens <= largest_.tokens && size_.sequences <= largest_.sequences,
                 "the batch is larger than what this DeviceBatch was made for");
  ENCORE_REQUIRE(batch.ids.size() == rows && batch.targets.size() == rows && batch.positions.size() == rows,
                 "ids, targets and positions have one entry per row");
  ENCORE_REQUIRE(batch.examples.size() + 1 == batch.offsets.size(), "examples have one entry per sequence");

  std::byte* host = memory_.data();
  if (!host_writes_device) {
    if (slot_ == 0) device_.fence();  // the copies out of the ring have ended
    host = staging_.data() + slot_ * memory_.bytes();
    slot_ = (slot_ + 1) % ring_slots;
  }
  Writer writer(host, memory_.data());
  shards_.clear();
  for (const SequenceRange range : cut_shards(batch.offsets, shard_count_))
    if (range.first < range.last) shards_.push_back(write_shard(batch, range, sort_keys_, writer));
  ENCORE_REQUIRE(writer.used() <= memory_.bytes(), "the slot holds every shard");
  target_count_ = batch.target_count;
  if (host_writes_device) return;
  using Source =
      Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Target = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(device_.space(), Target(memory_.data(), writer.used()), Source(host, writer.used()));
}

}  // namespace encore
