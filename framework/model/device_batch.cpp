// SPDX-License-Identifier: BSD-3-Clause
// Implements DeviceBatch: cuts a packed batch into shards, lays out all arrays that a pass reads one after
// the other, and uploads them in one copy to the device. train/, Evaluator and Generation call upload() once
// per batch. Read device_batch.hpp first. The cut into shards decides the order of sums, and so the bits.
#include "model/device_batch.hpp"

#include <algorithm>
#include <cstring>

namespace encore::model {
namespace {

/// The number of uploads between two waits for the device.
constexpr std::size_t ring_slots = 8;

/// Sorts rows by token number, equal numbers in row order.
void sort_rows(std::span<const std::int32_t> ids, std::vector<std::uint64_t>& keys, std::int32_t* order) {
  keys.resize(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row)
    keys[row] = static_cast<std::uint64_t>(static_cast<std::uint32_t>(ids[row])) << 32 | row;
  std::sort(keys.begin(), keys.end());
  for (std::size_t k = 0; k < keys.size(); ++k) order[k] = static_cast<std::int32_t>(keys[k] & 0xffffffffU);
}

/// Returns the first row of a range of sequences, and the row after its last one.
data::SequenceRange rows_between(const std::vector<std::int32_t>& offsets, const data::SequenceRange& range) {
  if (offsets.empty()) return {};
  return {offsets[static_cast<std::size_t>(range.first)], offsets[static_cast<std::size_t>(range.last)]};
}

std::size_t row_set_bytes(const RowSetSize& size, std::int64_t shards) {
  const auto n = static_cast<std::size_t>(size.tokens), b = static_cast<std::size_t>(size.sequences + shards);
  return n * (4 * sizeof(std::int32_t) + sizeof(std::int64_t)) + b * sizeof(std::int32_t);
}

std::size_t place(Space space) {
  return static_cast<std::size_t>(space);
}

void require_sound(const data::PackedRows& rows, const BatchSize& size, const BatchSize& largest) {
  ENCORE_REQUIRE(size.tokens <= largest.tokens && size.sequences <= largest.sequences &&
                     size.target.tokens <= largest.target.tokens && size.picked <= largest.picked,
                 "the batch is larger than what this DeviceBatch was made for");
  const auto count = static_cast<std::size_t>(rows.offsets.empty() ? 0 : rows.offsets.back());
  ENCORE_REQUIRE(rows.ids.size() == count && rows.positions.size() == count,
                 "ids and positions have one entry per row");
}

}  // namespace

/// Hands out aligned arrays of a slot, at equal offsets on the host and on the device.
class DeviceBatch::Writer {
 public:
  Writer(std::byte* host, std::byte* device) : host_(host), device_(device) {}

  template <class T>
  T* take(std::int64_t count, DType dtype, Tensor& tensor) {
    tensor = Tensor(device_ + used_, dtype, {count});
    T* result = reinterpret_cast<T*>(host_ + used_);
    used_ += memory::aligned(tensor.bytes());
    return result;
  }
  template <class T>
  void copy(std::span<const T> from, DType dtype, Tensor& tensor) {
    std::copy(from.begin(), from.end(), take<T>(std::ssize(from), dtype, tensor));
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* host_;
  std::byte* device_;
  std::size_t used_ = 0;
};

DeviceBatch::DeviceBatch(const Device& device, const BatchSize& largest, const data::BatchNeeds& needs,
                         std::int64_t shards)
    : device_(device), largest_(largest), needs_(needs), shard_count_(shards) {
  ENCORE_REQUIRE(shards >= 1, "a batch has at least one shard");
  const std::size_t bytes = slot_bytes();
  memory_ = memory::DeviceBuffer("encore::batch", bytes);
  if (!memory::host_reaches_device())
    staging_ = memory::StagingBuffer("encore::batch_staging", ring_slots * bytes);
  sort_keys_.reserve(static_cast<std::size_t>(std::max(largest.tokens, largest.target.tokens)));
  shards_.resize(static_cast<std::size_t>(shards));
  for (Shard& shard : shards_) shard.batch.columns.resize(needs_.columns.size());
}

/// Returns the bytes of all arrays of a batch whose shards each begin at an aligned address.
std::size_t DeviceBatch::slot_bytes() const {
  std::size_t bytes = row_set_bytes(largest_, shard_count_) + row_set_bytes(largest_.target, shard_count_) +
                      static_cast<std::size_t>(largest_.picked) * sizeof(std::int32_t);
  if (needs_.segments > 0) bytes += static_cast<std::size_t>(largest_.tokens) * sizeof(std::int32_t);
  for (const ColumnNeed& need : needs_.columns)
    bytes += static_cast<std::size_t>(largest_.rows(need.space) * need.width) * sizeof(std::int32_t);
  const std::size_t arrays = 13 + (needs_.segments > 0 ? 1 : 0) + needs_.columns.size();
  return memory::aligned(bytes + static_cast<std::size_t>(shard_count_) * arrays * memory::tensor_alignment);
}

void DeviceBatch::upload(const data::PackedBatch& batch, const ShardShare& share) {
  size_ = batch.size();
  require_sound(batch, size_, largest_);
  require_sound(batch.target, size_, largest_);
  ENCORE_REQUIRE(batch.sequences.size() + 1 == batch.offsets.size(), "every sequence has a number");
  ENCORE_REQUIRE(batch.segments.empty() || (needs_.segments > 0 && batch.segments.size() == batch.ids.size()),
                 "the segments of a batch, where a model reads them, have one entry per row");
  ENCORE_REQUIRE(batch.columns.size() == needs_.columns.size() && batch.known.size() == batch.columns.size(),
                 "the batch was packed for this model");

  std::byte* host = memory_.data();
  if (!memory::host_reaches_device()) {
    if (slot_ == 0) device_.fence();  // the copies out of the ring have ended
    host = staging_.data() + slot_ * memory_.bytes();
    slot_ = (slot_ + 1) % ring_slots;
  }
  Writer writer(host, memory_.data());
  used_ = 0;
  std::int64_t number = 0, place = 0;
  for (const data::SequenceRange& range : data::cut_shards(batch.offsets, batch.borders, shard_count_)) {
    if (range.first < range.last && share.has(number)) {
      Shard& shard = shards_[used_++];
      shard.number = number;
      shard.place = place;
      write_shard(batch, range, writer, shard);
    }
    if (range.first < range.last) ++place;
    ++number;
  }
  ENCORE_REQUIRE(writer.used() <= memory_.bytes(), "the slot holds every shard");
  weights_ = batch.weights;
  scales_.clear();
  for (const double weight : weights_) scales_.push_back(weight > 0.0 ? 1.0 / weight : 0.0);
  if (!memory::host_reaches_device()) memory::start_copy(device_, host, writer.used(), memory_.data());
}

void DeviceBatch::write_shard(const data::PackedBatch& packed, const data::SequenceRange& range,
                              Writer& writer, Shard& shard) {
  write_rows(packed, packed, range, writer, shard.batch.tokens);
  write_rows(packed.target, packed, range, writer, shard.batch.target);
  const data::SequenceRange rows = rows_between(packed.offsets, range);
  if (!packed.segments.empty())
    writer.copy(
        std::span(packed.segments)
            .subspan(static_cast<std::size_t>(rows.first), static_cast<std::size_t>(rows.last - rows.first)),
        DType::int32, shard.batch.tokens.segments);
  const auto pick = [&](std::int64_t row) {
    return std::lower_bound(packed.picked.begin(), packed.picked.end(), row) - packed.picked.begin();
  };
  const data::SequenceRange picks = {pick(rows.first), pick(rows.last)};
  auto* picked = writer.take<std::int32_t>(picks.last - picks.first, DType::int32, shard.batch.picked);
  for (std::int64_t i = picks.first; i < picks.last; ++i)
    *picked++ = static_cast<std::int32_t>(packed.picked[static_cast<std::size_t>(i)] - rows.first);

  std::array<data::SequenceRange, 4> ranges;
  ranges[place(Space::tokens)] = rows;
  ranges[place(Space::target)] = rows_between(packed.target.offsets, range);
  ranges[place(Space::sequences)] = range;
  ranges[place(Space::picked)] = picks;
  for (std::size_t i = 0; i < ranges.size(); ++i) shard.first[i] = ranges[i].first;
  for (std::size_t i = 0; i < needs_.columns.size(); ++i) {
    const ColumnNeed& need = needs_.columns[i];
    const EncodedExample::Column& column = packed.columns[i];
    const data::SequenceRange of = ranges[place(need.space)];
    const auto part = [&]<class T>(const std::vector<T>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(of.first * need.width),
                                    static_cast<std::size_t>((of.last - of.first) * need.width));
    };
    Tensor& to = shard.batch.columns[i];
    if (!packed.known[i])
      to = {};
    else if (need.type == ColumnType::integers)
      writer.copy(part(column.integers), DType::int32, to);
    else
      writer.copy(part(column.numbers), DType::float32, to);
    if (to && need.width > 1) to = Tensor(to.data, to.dtype, {of.last - of.first, need.width});
  }
}

void DeviceBatch::write_rows(const data::PackedRows& rows, const data::PackedBatch& packed,
                             const data::SequenceRange& range, Writer& writer, RowSet& to) {
  to = {};
  if (rows.offsets.empty()) return;
  const auto first = static_cast<std::size_t>(range.first);
  const auto count = static_cast<std::size_t>(range.last - range.first);
  const data::SequenceRange of = rows_between(rows.offsets, range);
  const auto begin = static_cast<std::size_t>(of.first), n = static_cast<std::size_t>(of.last - of.first);
  to.size = data::size_between(std::span(rows.offsets).subspan(first, count + 1));
  writer.copy(std::span(rows.ids).subspan(begin, n), DType::int32, to.ids);
  writer.copy(std::span(rows.positions).subspan(begin, n), DType::int32, to.positions);
  auto* offsets = writer.take<std::int32_t>(static_cast<std::int64_t>(count) + 1, DType::int32, to.offsets);
  auto* sequence = writer.take<std::int32_t>(to.size.tokens, DType::int32, to.sequence);
  auto* examples = writer.take<std::int64_t>(to.size.tokens, DType::int64, to.examples);
  auto* order = writer.take<std::int32_t>(to.size.tokens, DType::int32, to.order);
  for (std::size_t s = 0; s <= count; ++s)
    offsets[s] = rows.offsets[first + s] - static_cast<std::int32_t>(of.first);
  for (std::size_t s = 0; s < count; ++s) {
    std::fill(sequence + offsets[s], sequence + offsets[s + 1], static_cast<std::int32_t>(s));
    std::fill(examples + offsets[s], examples + offsets[s + 1], packed.sequences[first + s]);
  }
  sort_rows(std::span(rows.ids).subspan(begin, n), sort_keys_, order);
}

}  // namespace encore::model
