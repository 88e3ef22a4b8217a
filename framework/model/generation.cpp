// SPDX-License-Identifier: BSD-3-Clause
// Implements Generation: the row set of the cache of keys and values, first and later passes over it, the
// copying of sequences for beams, and the checks of each call. Model makes one, infer/text_feed.cpp drives
// it. On a host the bits of a row must equal those of a pass over the whole sequence. Read generation.hpp
// first.
#include "model/generation.hpp"

#include <algorithm>
#include <numeric>

#include "model/pass_kernels.hpp"

namespace encore::model {
namespace {

StepPlan plan_generation(const Network& network, BatchSize largest, std::int64_t capacity) {
  require_generation(network);
  ENCORE_REQUIRE(capacity >= 1 && capacity <= network.max_length(),
                 "outputs of " + std::to_string(capacity) + " rows; the model takes 1 to " +
                     std::to_string(network.max_length()) + " (data.max_length)");
  StepPlan plan = plan_step(network, PassMode::generate);
  largest.cache = {
      .tokens = largest.sequences * capacity, .sequences = largest.sequences, .longest = capacity};
  plan.place(largest);
  return plan;
}

/// Takes `memory` as the arena, or allocates a larger one. Its content is undefined: a pass reads only what
/// it has written, and only rows of the cache that exist.
memory::DeviceBuffer arena_from(memory::DeviceBuffer& memory, std::size_t bytes) {
  memory::DeviceBuffer taken = std::move(memory);
  memory = memory::DeviceBuffer();
  if (taken.bytes() >= bytes) return taken;
  taken = memory::DeviceBuffer();  // give the old memory back before taking more
  return {"encore::generation", bytes, memory::Contents::undefined};
}

/// Returns the buffers of lifetime `persistent`, as tensors of the plan.
std::vector<int> persistent_tensors(const Network& network, const StepPlan& plan) {
  std::vector<int> kept;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const std::vector<BufferSpec>& buffers = network.nodes()[i].plan.buffers();
    for (std::size_t k = 0; k < buffers.size(); ++k)
      if (buffers[k].lifetime == Lifetime::persistent) kept.push_back(plan.nodes[i].buffers[k]);
  }
  return kept;
}

/// Returns the lengths of the sequences after these rows; `lengths` are those before.
std::vector<std::int64_t> lengths_after(const data::PackedRows& rows, std::vector<std::int64_t> lengths,
                                        std::int64_t capacity) {
  ENCORE_REQUIRE(rows.offsets.size() == lengths.size() + 1,
                 "the pass has rows of " + std::to_string(std::max<std::size_t>(rows.offsets.size(), 1) - 1) +
                     " sequences, but " + std::to_string(lengths.size()) + " are generated");
  ENCORE_REQUIRE(std::ssize(rows.positions) == rows.offsets.back(), "every row has a position");
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const std::string text = "text " + std::to_string(s + 1);
    for (std::int64_t row = rows.offsets[s]; row < rows.offsets[s + 1]; ++row) {
      const std::int64_t position = rows.positions[static_cast<std::size_t>(row)];
      ENCORE_REQUIRE(position == lengths[s], text + " has " + std::to_string(lengths[s]) +
                                                 " rows, but the next one comes with position " +
                                                 std::to_string(position));
      ++lengths[s];
    }
    ENCORE_REQUIRE(lengths[s] <= capacity, text + " would have " + std::to_string(lengths[s]) +
                                               " rows, but there is room for " + std::to_string(capacity));
  }
  return lengths;
}

}  // namespace

void require_generation(const Network& network) {
  const std::string cannot = "the model cannot generate: ";
  if (!network.is_causal())
    throw Error(cannot + "it has no causal stack; set model.causal = true, or add a [model.decoder]");
  const Space generated = network.generated_space();
  for (const Node& node : network.nodes()) {
    const bool on_texts = node.head || (node.layer && node.space == generated);
    if (on_texts && !node.plan.continues_texts())
      throw Error(cannot + node.path + (node.owner.empty() ? "" : " (" + node.owner + ")") +
                  " works on whole sequences; a layer that can continue them is row-wise "
                  "(LayerPlan::row_wise), or keeps what it "
                  "reads of earlier rows (Lifetime::persistent)");
  }
  for (const Space space : network.head().reads())
    if (space != generated && !(space == Space::picked && generated == Space::tokens))
      throw Error(cannot + "the head reads the space " + name_of(space) +
                  ", which later passes do not compute");
}

CacheRows::CacheRows(const Device& device, std::int64_t sequences, std::int64_t capacity)
    : capacity_(capacity) {
  std::vector<std::int32_t> offsets, sequence, positions;
  for (std::int64_t s = 0; s <= sequences; ++s) offsets.push_back(static_cast<std::int32_t>(s * capacity));
  for (std::int64_t row = 0; row < sequences * capacity; ++row) {
    sequence.push_back(static_cast<std::int32_t>(row / capacity));
    positions.push_back(static_cast<std::int32_t>(row % capacity));
  }
  const auto bytes = [](const std::vector<std::int32_t>& table) {
    return memory::aligned(table.size() * sizeof(std::int32_t));
  };
  memory_ = memory::DeviceBuffer("encore::cache_rows", bytes(offsets) + bytes(sequence) + bytes(positions));
  std::byte* at = memory_.data();
  for (const auto& [table, tensor] :
       {std::pair{&offsets, &offsets_}, {&sequence, &sequence_}, {&positions, &positions_}}) {
    *tensor = Tensor(at, DType::int32, {std::ssize(*table)});
    memory::copy_from_host(device, table->data(), *tensor);
    at += bytes(*table);
  }
}

RowSet CacheRows::of(std::int64_t sequences) const {
  RowSet rows;
  rows.size = {.tokens = sequences * capacity_, .sequences = sequences, .longest = capacity_};
  rows.offsets = Tensor(offsets_.data, DType::int32, {sequences + 1});
  rows.sequence = Tensor(sequence_.data, DType::int32, {rows.size.tokens});
  rows.positions = Tensor(positions_.data, DType::int32, {rows.size.tokens});
  return rows;
}

Generation::Generation(const Network& network, memory::ParameterBlock& parameters, const Device& device,
                       const BatchSize& largest, std::int64_t capacity, memory::DeviceBuffer& memory)
    : network_(network),
      parameters_(parameters),
      device_(device),
      plan_(plan_generation(network, largest, capacity)),
      kept_(persistent_tensors(network, plan_)),
      memory_(memory),
      arena_(arena_from(memory, plan_.arena_bytes)),
      cache_(device, largest.sequences, capacity),
      first_(device, largest, network.needs()),
      later_(device, largest, network.needs()),
      pass_(network, plan_, parameters, device, arena_.data()) {}

Generation::~Generation() {
  if (arena_.bytes() > memory_.bytes()) memory_ = std::move(arena_);
}

void Generation::use(LaidOutWeights& weights, LaidOutWeights* quantized) {
  laid_out_ = &weights;
  quantized_ = quantized;
  pass_.use(&weights.layouts());
  pass_.use_quantized(quantized != nullptr ? &quantized->layouts() : nullptr);
}

void Generation::begin(const data::PackedBatch& batch, Until until) {
  ENCORE_REQUIRE(!batch.sequences.empty(), "a generation needs at least one text");
  const data::PackedRows& rows = has_sources() ? batch.target : batch;
  if (has_sources()) sources_ = batch;
  run(batch, lengths_after(rows, std::vector<std::int64_t>(batch.sequences.size(), 0), cache_.capacity()),
      true, until);
}

void Generation::next(const data::PackedBatch& batch, Until until) {
  ENCORE_REQUIRE(!lengths_.empty(), "Generation::begin comes first");
  ENCORE_REQUIRE(!has_sources() || batch.ids.empty(), "the sources are those of the first pass");
  run(batch, lengths_after(has_sources() ? batch.target : batch, lengths_, cache_.capacity()), false, until);
}

void Generation::run(const data::PackedBatch& packed, std::vector<std::int64_t> lengths, bool first_pass,
                     Until until) {
  require_planned(packed.size());
  DeviceBatch& uploaded = first_pass ? first_ : later_;
  uploaded.upload(packed);
  lengths_ = std::move(lengths);
  batch_ = uploaded.shards().front().batch;
  if (!first_pass && has_sources()) batch_.tokens = first_.shards().front().batch.tokens;
  RowSetSize& size = has_sources() ? batch_.target.size : batch_.tokens.size;
  size.past = std::ranges::max(lengths_) - size.longest;
  batch_.cache = cache_.of(std::ssize(lengths_));
  batch_.first_pass = first_pass;
  parameters_.refresh_copies();
  for (LaidOutWeights* weights : {laid_out_, quantized_})
    if (weights != nullptr) weights->refresh();
  pass_.start(batch_, 0, 0);
  if (until == Until::logits)
    pass_.forward();
  else
    pass_.forward_states();
}

// --- sequences that become copies of others ---

Tensor Generation::upload_rows(const std::vector<std::int32_t>& rows, std::size_t place) {
  const std::size_t most =
      static_cast<std::size_t>(std::max(plan_.largest.cache.tokens, plan_.largest.tokens));
  ENCORE_REQUIRE(rows.size() <= most, "no buffer has room for these rows");
  if (moved_.bytes() == 0)
    moved_ = memory::DeviceBuffer("encore::moved_rows", 2 * memory::aligned(most * sizeof(std::int32_t)),
                                  memory::Contents::undefined);
  const Tensor list(moved_.data() + place * moved_.bytes() / 2, DType::int32, {std::ssize(rows)});
  memory::copy_from_host(device_, rows.data(), list);
  return list;
}

void Generation::move_rows(Extent::Of rows, const std::vector<std::int32_t>& from,
                           const std::vector<std::int32_t>& to) {
  if (from.empty()) return;
  const Tensor sources = upload_rows(from, 0), targets = upload_rows(to, 1);
  for (const int number : kept_) {
    const PlanTensor& plan = plan_.tensors[static_cast<std::size_t>(number)];
    if (plan.shape[0].of != rows) continue;
    if (spare_.bytes() < plan.bytes)
      spare_ = memory::DeviceBuffer("encore::spare_rows", plan.bytes, memory::Contents::undefined);
    const Tensor all = kept(number);
    const Tensor moving(spare_.data(), all.dtype, {std::ssize(from), all.size() / all.extent(0)});
    gather_rows(device_, all, sources, moving);
    put_rows(device_, moving, targets, all);
  }
}

void Generation::repeat(std::int64_t times) {
  ENCORE_REQUIRE(!lengths_.empty(), "Generation::begin comes first");
  const auto texts = std::ssize(lengths_);
  ENCORE_REQUIRE(texts * times <= plan_.largest.cache.sequences,
                 std::to_string(texts * times) + " outputs are more than planned");
  for (const int number : kept_) {
    const Extent::Of rows = plan_.tensors[static_cast<std::size_t>(number)].shape[0].of;
    ENCORE_REQUIRE(
        rows == Extent::Of::cache || rows == Extent::Of::memory || rows == Extent::Of::one,
        "a persistent buffer is over rows of one pass, rather than over cache_rows or memory_rows");
  }
  std::vector<std::int32_t> from, to;
  std::vector<std::int64_t> lengths;
  for (std::int64_t copy = 0; copy < texts * times; ++copy) {
    const std::int64_t text = copy / times, length = lengths_[static_cast<std::size_t>(text)];
    lengths.push_back(length);
    for (std::int64_t row = 0; row < length && copy != text; ++row) {
      from.push_back(static_cast<std::int32_t>(text * cache_.capacity() + row));
      to.push_back(static_cast<std::int32_t>(copy * cache_.capacity() + row));
    }
  }
  move_rows(Extent::Of::cache, from, to);
  lengths_ = std::move(lengths);
  if (has_sources()) repeat_sources(times);
}

/// Copies the sources of sequences `times` times. Sources are packed, so the rows of all of them move.
void Generation::repeat_sources(std::int64_t times) {
  data::PackedBatch repeated;
  repeated.offsets = repeated.borders = {0};
  std::vector<std::int32_t> from, to;
  for (std::size_t text = 0; text + 1 < sources_.offsets.size(); ++text)
    for (std::int64_t copy = 0; copy < times; ++copy) {
      for (std::int32_t row = sources_.offsets[text]; row < sources_.offsets[text + 1]; ++row) {
        from.push_back(row);
        to.push_back(static_cast<std::int32_t>(repeated.ids.size()));
        repeated.ids.push_back(sources_.ids[static_cast<std::size_t>(row)]);
        repeated.positions.push_back(sources_.positions[static_cast<std::size_t>(row)]);
        if (!sources_.segments.empty())
          repeated.segments.push_back(sources_.segments[static_cast<std::size_t>(row)]);
      }
      repeated.offsets.push_back(static_cast<std::int32_t>(repeated.ids.size()));
      repeated.sequences.push_back(sources_.sequences[text]);
      repeated.borders.push_back(static_cast<std::int32_t>(repeated.sequences.size()));
    }
  repeated.target.offsets.assign(repeated.offsets.size(), 0);
  repeated.columns.resize(sources_.columns.size());
  repeated.known.assign(sources_.columns.size(), false);
  require_planned(repeated.size());
  move_rows(Extent::Of::memory, from, to);
  first_.upload(repeated);
  sources_ = std::move(repeated);
}

void Generation::copy(std::span<const TextCopy> copies) {
  std::vector<std::int32_t> from, to;
  for (const TextCopy& each : copies) {
    ENCORE_REQUIRE(std::min(each.from, each.to) >= 0 && std::max(each.from, each.to) < std::ssize(lengths_),
                   "there is no such text");
    const std::int64_t length = lengths_[static_cast<std::size_t>(each.from)];
    for (std::int64_t row = 0; row < length; ++row) {
      from.push_back(static_cast<std::int32_t>(each.from * cache_.capacity() + row));
      to.push_back(static_cast<std::int32_t>(each.to * cache_.capacity() + row));
    }
  }
  for (const TextCopy& each : copies)
    lengths_[static_cast<std::size_t>(each.to)] = lengths_[static_cast<std::size_t>(each.from)];
  if (from.empty()) return;
  const Tensor sources = upload_rows(from, 0), targets = upload_rows(to, 1);
  for (const int number : kept_)
    if (plan_.tensors[static_cast<std::size_t>(number)].shape[0].of == Extent::Of::cache)
      copy_rows(device_, sources, targets, kept(number));
}

void Generation::restart(std::int64_t text) {
  ENCORE_REQUIRE(text >= 0 && text < std::ssize(lengths_), "there is no such text");
  lengths_[static_cast<std::size_t>(text)] = 0;
}

void Generation::require_planned(const BatchSize& size) const {
  const auto text = [](const RowSetSize& of) {
    return std::to_string(of.tokens) + " rows of " + std::to_string(of.sequences) + " sequences (" +
           std::to_string(of.longest) + " of the longest, " + std::to_string(of.squares) +
           " as the sum of their squares)";
  };
  const auto rows = [&](const BatchSize& of) {
    return has_sources() ? text(of.target) + " with sources of " + text(of) : text(of);
  };
  ENCORE_REQUIRE(plan_.holds(size),
                 "a pass of " + rows(size) + " is larger than planned: " + rows(plan_.largest));
}

}  // namespace encore::model
