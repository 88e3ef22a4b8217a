// SPDX-License-Identifier: BSD-3-Clause
// GradientExchange: sends, receives and adds up what ranks exchange in a training step. Only the owner of a
// range adds to it, in the order of the shards; this order keeps the bits of one process. Read
// gradient_exchange.hpp first.
#include "train/gradient_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <encore/kernels.hpp>

#include "kernels/chunk_sums.hpp"

namespace encore::train {
namespace {

/// Adds the time between its construction and its end to a sum of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - begun_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  const Clock::time_point begun_ = Clock::now();
};

memory::BlockRange both(const memory::BlockRange& a, const memory::BlockRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

std::size_t in_words(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

bool has_adapters(const memory::ParameterBlock& parameters) {
  return std::ranges::any_of(parameters.slices(),
                             [](const memory::ParameterSlice& slice) { return slice.adapter.has_value(); });
}

}  // namespace

GradientExchange::GradientExchange(distributed::Communicator& ranks, const Device& device,
                                   memory::ParameterBlock& parameters,
                                   const std::map<std::string, std::size_t>& first_users, std::int64_t shards,
                                   std::optional<UpdateReach> reach)
    : ranks_(ranks),
      device_(device),
      parameters_(parameters),
      shards_(shards),
      sliced_(reach.has_value() && !has_adapters(parameters)),
      borders_(memory::cut_blocks(parameters.slices(), ranks.size(), reach.value_or(UpdateReach::element))),
      chunks_(memory::make_chunks(parameters.slices())) {
  ENCORE_REQUIRE(shards % ranks.size() == 0, "the ranks divide train.gradient_shards");
  const std::size_t element = size_of(parameters.dtype()), count = static_cast<std::size_t>(ranks.size());
  for (const std::int64_t border : borders_) {
    byte_borders_.push_back(static_cast<std::size_t>(border) * element);
    const auto chunk = std::ranges::lower_bound(chunks_, border, {}, &Chunk::begin) - chunks_.begin();
    square_borders_.push_back(static_cast<std::size_t>(chunk) * sizeof(double));
  }
  if (sliced_) parameters.own(range_of(ranks.rank()));
  find_runs(first_users);
  filled_.resize(static_cast<std::size_t>(shards));
  const std::size_t known = in_words(chunks_.size());
  present_.assign(static_cast<std::size_t>(shards), std::vector<ChunkGradient>(known, ChunkGradient::absent));
  present_in_batch_.resize(known);
  present_on_device_ = memory::DeviceBuffer("encore::present_rows", known);
  squares_ = memory::DeviceBuffer(
      "encore::chunk_squares",
      sizeof(double) * static_cast<std::size_t>(kernels::room_for_chunk_sums(std::ssize(chunks_))));
  const std::size_t own = static_cast<std::size_t>(range_of(ranks.rank()).size()) * element;
  received_.resize(count);
  for (int r = 0; r < ranks.size(); ++r)
    if (r != ranks.rank()) received_[static_cast<std::size_t>(r)].resize(own);
  row_parts_in_.resize(count);
  row_parts_out_.resize(count);
  if (memory::host_reaches_device()) return;
  host_.resize(static_cast<std::size_t>(parameters.extent()) * element);
  staged_ = memory::DeviceBuffer("encore::staged_gradients", own);
}

/// Finds the ranges that are added element by element: trained parameters (no tables of tokens) and matrices
/// with adapters. Adjacent ranges are joined.
void GradientExchange::find_runs(const std::map<std::string, std::size_t>& first_users) {
  const auto append = [](std::vector<memory::BlockRange>& runs, const memory::ParameterSlice& slice) {
    if (!runs.empty() && slice.begin - runs.back().end < memory::segment_alignment)
      runs.back().end = slice.begin + slice.size;
    else
      runs.push_back({slice.begin, slice.begin + slice.size});
  };
  for (const memory::ParameterSlice& slice : parameters_.slices()) {
    if ((slice.frozen && !slice.adapter) || (!slice.frozen && memory::chunk_rows(slice.spec) > 0)) continue;
    append(runs_, slice);
    const auto user = first_users.find(slice.path);  // the factors of adapters have none
    const std::size_t node = user == first_users.end() ? 0 : user->second;
    if (node >= runs_of_nodes_.size()) runs_of_nodes_.resize(node + 1);
    append(runs_of_nodes_[node], slice);
  }
  next_node_ = runs_of_nodes_.size();
}

// --- what is known of a batch ---

void GradientExchange::begin(const data::PackedBatch& batch) {
  used_ = 0;
  std::ranges::fill(present_in_batch_, ChunkGradient::absent);
  std::size_t shard = 0;
  for (const data::SequenceRange& range : data::cut_shards(batch.offsets, batch.borders, shards_)) {
    filled_[shard] = range.first < range.last;
    used_ += filled_[shard] ? 1 : 0;
    std::ranges::fill(present_[shard], ChunkGradient::absent);
    mark_tokens(batch, range, present_[shard]);
    mark_tokens(batch.target, range, present_[shard]);
    ++shard;
  }
}

/// Marks the same rows as ParameterBlock::mark_rows does on the device.
void GradientExchange::mark_tokens(const data::PackedRows& rows, const data::SequenceRange& range,
                                   std::vector<ChunkGradient>& present) {
  if (rows.offsets.empty()) return;
  const auto first = static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(range.first)]);
  const auto last = static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(range.last)]);
  for (const memory::RowChunks& table : parameters_.row_chunks())
    for (std::size_t row = first; row < last; ++row) {
      const std::int64_t chunk = rows.ids[row] / table.rows_per_chunk;
      if (chunk >= table.chunk_count) continue;
      present[static_cast<std::size_t>(table.first_chunk + chunk)] = ChunkGradient::present;
      present_in_batch_[static_cast<std::size_t>(table.first_chunk + chunk)] = ChunkGradient::present;
    }
}

void GradientExchange::mark_rows() {
  if (parameters_.row_chunks().empty()) return;
  const Tensor table(present_on_device_.data(), DType::int32,
                     {static_cast<std::int64_t>(present_in_batch_.size() / 4)});
  memory::copy_from_host(device_, present_in_batch_.data(), table);
  parameters_.mark_rows(reinterpret_cast<const ChunkGradient*>(present_on_device_.data()));
}

/// Calls `use` for the parts of `range` that are added element by element.
template <class Use>
void GradientExchange::each_run(const memory::BlockRange& range, const Use& use) const {
  for (const memory::BlockRange& run : runs_)
    if (const memory::BlockRange part = both(run, range); part.begin < part.end) use(part);
}

/// Calls `use` for the chunks of tables in `range` that have rows in a shard.
template <class Use>
void GradientExchange::each_present_row(const memory::BlockRange& range, std::size_t shard,
                                        const Use& use) const {
  for (const memory::RowChunks& table : parameters_.row_chunks())
    for (std::int64_t c = table.first_chunk; c < table.first_chunk + table.chunk_count; ++c) {
      if (present_[shard][static_cast<std::size_t>(c)] != ChunkGradient::present) continue;
      const Chunk& chunk = chunks_[static_cast<std::size_t>(c)];
      if (chunk.begin >= range.begin && chunk.begin < range.end) use(chunk);
    }
}

std::size_t GradientExchange::row_bytes(const memory::BlockRange& range, std::size_t shard) const {
  std::int64_t elements = 0;
  each_present_row(range, shard, [&](const Chunk& chunk) { elements += chunk.size; });
  return static_cast<std::size_t>(elements) * size_of(parameters_.dtype());
}

// --- a round ---

void GradientExchange::node_done(std::int64_t first, std::size_t node) {
  if (!memory::host_reaches_device()) return;
  const Stopwatch watch(seconds_);
  begin_down_to(node, first, own_shard_on_host());
  ranks_.advance();
}

void GradientExchange::add_round(std::int64_t first) {
  const Stopwatch watch(seconds_);
  const std::byte* gradient = filled_[shard_of(ranks_.rank(), first)] ? own_shard_on_host() : nullptr;
  begin_down_to(0, first, gradient);
  begin_rows(first, gradient);
  ranks_.finish_exchanges();
  next_node_ = runs_of_nodes_.size();
  for (int r = 0; r < ranks_.size(); ++r)
    if (filled_[shard_of(r, first)]) add(r, shard_of(r, first));
}

const std::byte* GradientExchange::own_shard_on_host() {
  const Tensor gradients = parameters_.shard_gradients();
  device_.fence();
  if (memory::host_reaches_device()) return static_cast<const std::byte*>(gradients.data);
  memory::copy_to_host(device_, gradients, host_.data());
  return host_.data();
}

/// Begins to send all nodes from `node` on that were not begun, the last one first. Every rank uses this
/// order.
void GradientExchange::begin_down_to(std::size_t node, std::int64_t first, const std::byte* gradient) {
  const std::size_t element = size_of(parameters_.dtype());
  const memory::BlockRange own = range_of(ranks_.rank());
  outgoing_.clear();
  incoming_.clear();
  const auto begin_run = [&](int rank, const memory::BlockRange& run) {
    if (const memory::BlockRange part = both(run, range_of(rank));
        gradient != nullptr && part.begin < part.end)
      outgoing_.push_back({.to = rank,
                           .bytes = std::span(gradient + static_cast<std::size_t>(part.begin) * element,
                                              static_cast<std::size_t>(part.size()) * element)});
    if (const memory::BlockRange part = both(run, own);
        filled_[shard_of(rank, first)] && part.begin < part.end)
      incoming_.push_back({.from = rank,
                           .bytes = std::span(received_[static_cast<std::size_t>(rank)])
                                        .subspan(static_cast<std::size_t>(part.begin - own.begin) * element,
                                                 static_cast<std::size_t>(part.size()) * element)});
  };
  while (next_node_ > node) {
    --next_node_;
    for (const memory::BlockRange& run : runs_of_nodes_[next_node_])
      for (int r = 0; r < ranks_.size(); ++r)
        if (r != ranks_.rank()) begin_run(r, run);
  }
  if (!outgoing_.empty() || !incoming_.empty()) ranks_.begin_exchange(outgoing_, incoming_);
}

/// Begins to send the rows of token tables. Any layer may contribute to them, so this must wait for the end
/// of the backward pass.
void GradientExchange::begin_rows(std::int64_t first, const std::byte* gradient) {
  if (parameters_.row_chunks().empty()) return;
  const std::size_t element = size_of(parameters_.dtype());
  outgoing_.clear();
  incoming_.clear();
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == ranks_.rank()) continue;
    Bytes &out = row_parts_out_[static_cast<std::size_t>(r)],
          &in = row_parts_in_[static_cast<std::size_t>(r)];
    out.clear();
    if (gradient != nullptr)
      each_present_row(range_of(r), shard_of(ranks_.rank(), first), [&](const Chunk& chunk) {
        const std::byte* row = gradient + static_cast<std::size_t>(chunk.begin) * element;
        out.insert(out.end(), row, row + static_cast<std::size_t>(chunk.size) * element);
      });
    if (!out.empty()) outgoing_.push_back({.to = r, .bytes = out});
    if (filled_[shard_of(r, first)]) in.resize(row_bytes(range_of(ranks_.rank()), shard_of(r, first)));
    if (filled_[shard_of(r, first)] && !in.empty()) incoming_.push_back({.from = r, .bytes = in});
  }
  ranks_.begin_exchange(outgoing_, incoming_);
}

/// Copies the rows of rank `from`, which arrive packed, to their places in the range.
void GradientExchange::place_rows(int from, std::size_t shard) {
  const std::size_t element = size_of(parameters_.dtype());
  const memory::BlockRange own = range_of(ranks_.rank());
  const std::byte* row = row_parts_in_[static_cast<std::size_t>(from)].data();
  std::byte* to = received_[static_cast<std::size_t>(from)].data();
  each_present_row(own, shard, [&](const Chunk& chunk) {
    const std::size_t bytes = static_cast<std::size_t>(chunk.size) * element;
    std::memcpy(to + static_cast<std::size_t>(chunk.begin - own.begin) * element, row, bytes);
    row += bytes;
  });
}

/// Adds the gradient of rank `from`'s shard to gradients(), within this rank's range.
void GradientExchange::add(int from, std::size_t shard) {
  const memory::BlockRange own = range_of(ranks_.rank());
  if (own.size() == 0) return;
  Tensor part = memory::ParameterBlock::range(parameters_.shard_gradients(), own);
  if (from != ranks_.rank()) {
    place_rows(from, shard);
    part.data = received_[static_cast<std::size_t>(from)].data();
    if (!memory::host_reaches_device()) {
      part.data = staged_.data();
      memory::copy_from_host(device_, received_[static_cast<std::size_t>(from)].data(), part);
    }
  }
  each_run(own, [&](const memory::BlockRange& run) {
    kernels::add(device_, memory::ParameterBlock::range(part, {run.begin - own.begin, run.end - own.begin}),
                 memory::ParameterBlock::range(parameters_.gradients(), run));
  });
  if (parameters_.row_chunks().empty()) return;
  memory::copy_from_host(device_, present_[shard].data(),
                         Tensor(present_on_device_.data(), DType::int32,
                                {static_cast<std::int64_t>(present_[shard].size() / 4)}));
  const auto* present = reinterpret_cast<const ChunkGradient*>(present_on_device_.data());
  const auto number = [&](std::int64_t begin) {
    return std::ranges::lower_bound(chunks_, begin, {}, &Chunk::begin) - chunks_.begin();
  };
  for (const memory::RowChunks& table : parameters_.row_chunks()) {
    const std::int64_t first = std::max<std::int64_t>(table.first_chunk, number(own.begin));
    const std::int64_t last = std::min<std::int64_t>(table.first_chunk + table.chunk_count, number(own.end));
    if (first < last)
      parameters_.add_rows({first, last - first, table.rows_per_chunk}, present + first, part, own.begin);
  }
}

// --- what all need from all ---

void GradientExchange::share_losses(Tensor sums) {
  const Stopwatch watch(seconds_);
  const std::size_t row = static_cast<std::size_t>(sums.extent(1)), rows = filled_.size();
  std::vector<double> mine(rows * row), all(mine.size() * static_cast<std::size_t>(ranks_.size()));
  memory::copy_to_host(device_, sums, mine.data());
  ranks_.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  std::size_t place = 0;
  for (std::size_t shard = 0; shard < rows; ++shard) {
    if (!filled_[shard]) continue;
    const std::size_t rank = shard % static_cast<std::size_t>(ranks_.size());
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>((rank * rows + place) * row), row,
                mine.begin() + static_cast<std::ptrdiff_t>(place * row));
    ++place;
  }
  memory::copy_from_host(device_, mine.data(), sums);
}

void GradientExchange::sum_gradient_squares(double* result) {
  const auto r = static_cast<std::size_t>(ranks_.rank());
  auto* squares = reinterpret_cast<double*>(squares_.data());
  const auto chunk = [&](std::size_t rank) {
    return static_cast<std::int64_t>(square_borders_[rank] / sizeof(double));
  };
  kernels::chunk_squares(device_, parameters_.chunk_blocks(chunk(r), chunk(r + 1) - chunk(r)),
                         squares + chunk(r));
  const Stopwatch watch(seconds_);
  const std::size_t count = chunks_.size();
  const Tensor all(squares, DType::float64, {static_cast<std::int64_t>(count)});
  device_.fence();
  if (memory::host_reaches_device()) {
    ranks_.share(std::span(squares_.data(), count * sizeof(double)), square_borders_);
  } else {
    std::vector<double> host(count);
    memory::copy_to_host(device_, all, host.data());
    ranks_.share(std::as_writable_bytes(std::span(host)), square_borders_);
    memory::copy_from_host(device_, host.data(), all);
  }
  kernels::sum_of_chunks(device_, squares, static_cast<std::int64_t>(count), result);
}

void GradientExchange::share_values() {
  share_block(parameters_.values());
  parameters_.values_changed();
}

void GradientExchange::share_block(Tensor block) {
  const Stopwatch watch(seconds_);
  device_.fence();
  if (memory::host_reaches_device())
    return ranks_.share(std::span(static_cast<std::byte*>(block.data), block.bytes()), byte_borders_);
  const memory::BlockRange own = range_of(ranks_.rank());
  if (own.size() > 0)
    memory::copy_to_host(device_, memory::ParameterBlock::range(block, own),
                         host_.data() + byte_borders_[static_cast<std::size_t>(ranks_.rank())]);
  ranks_.share(host_, byte_borders_);
  memory::copy_from_host(device_, host_.data(), block);
}

double GradientExchange::take_seconds() {
  return std::exchange(seconds_, 0.0);
}

}  // namespace encore::train
