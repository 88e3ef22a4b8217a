// Checks, the row set of the cache, and the two kinds of passes.
#include "model/generation.hpp"

#include <algorithm>

namespace encore {
namespace {

/// The network, if all that works on its texts can continue them; throws Error else.
const Network& generating(const Network& network) {
  const std::string cannot = "the model cannot generate: ";
  if (!network.is_causal())
    throw Error(cannot + "it has no causal stack; set model.causal = true, or add a [model.decoder]");
  const Space generated = network.generated_space();
  for (const Node& node : network.nodes()) {
    const bool on_texts = node.head || (node.layer && node.space == generated);
    if (on_texts && !node.plan.continues_texts())
      throw Error(
          cannot + node.path + (node.owner.empty() ? "" : " (" + node.owner + ")") +
          " works on whole texts; what continues them is row-wise (LayerPlan::row_wise), or keeps what it "
          "reads of earlier rows (Lifetime::persistent)");
  }
  for (const Space space : network.head().reads())
    if (space != generated && !(space == Space::picked && generated == Space::tokens))
      throw Error(cannot + "the head reads the space " + name_of(space) +
                  ", which later passes do not compute");
  return network;
}

StepPlan plan_generation(const Network& network, BatchSize largest, std::int64_t capacity) {
  ENCORE_REQUIRE(capacity >= 1 && capacity <= network.max_length(),
                 "texts of " + std::to_string(capacity) + " rows; the model takes 1 to " +
                     std::to_string(network.max_length()) + " (data.max_length)");
  StepPlan plan = plan_step(network, PassMode::generate);
  largest.cache = {
      .tokens = largest.sequences * capacity, .sequences = largest.sequences, .longest = capacity};
  plan.place(largest);
  return plan;
}

/// The lengths of texts, `lengths` so far, that these rows continue.
std::vector<std::int64_t> lengths_after(const PackedRows& rows, std::vector<std::int64_t> lengths,
                                        std::int64_t capacity) {
  ENCORE_REQUIRE(rows.offsets.size() == lengths.size() + 1,
                 "the pass has rows of " + std::to_string(std::max<std::size_t>(rows.offsets.size(), 1) - 1) +
                     " texts, and " + std::to_string(lengths.size()) + " are generated");
  ENCORE_REQUIRE(std::ssize(rows.positions) == rows.offsets.back(), "every row has a position");
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const std::string text = "text " + std::to_string(s + 1);
    for (std::int64_t row = rows.offsets[s]; row < rows.offsets[s + 1]; ++row) {
      const std::int64_t position = rows.positions[static_cast<std::size_t>(row)];
      ENCORE_REQUIRE(position == lengths[s], text + " has " + std::to_string(lengths[s]) +
                                                 " rows, and the next one comes with position " +
                                                 std::to_string(position));
      ++lengths[s];
    }
    ENCORE_REQUIRE(lengths[s] <= capacity, text + " would have " + std::to_string(lengths[s]) +
                                               " rows, and there is room for " + std::to_string(capacity));
  }
  return lengths;
}

}  // namespace

CacheRows::CacheRows(const Device& device, std::int64_t sequences, std::int64_t capacity)
    : capacity_(capacity) {
  std::vector<std::int32_t> offsets, sequence, positions;
  for (std::int64_t s = 0; s <= sequences; ++s) offsets.push_back(static_cast<std::int32_t>(s * capacity));
  for (std::int64_t row = 0; row < sequences * capacity; ++row) {
    sequence.push_back(static_cast<std::int32_t>(row / capacity));
    positions.push_back(static_cast<std::int32_t>(row % capacity));
  }
  const auto bytes = [](const std::vector<std::int32_t>& table) {
    return aligned(table.size() * sizeof(std::int32_t));
  };
  memory_ = DeviceBuffer("encore::cache_rows", bytes(offsets) + bytes(sequence) + bytes(positions));
  std::byte* at = memory_.data();
  for (const auto& [table, tensor] :
       {std::pair{&offsets, &offsets_}, {&sequence, &sequence_}, {&positions, &positions_}}) {
    *tensor = Tensor(at, DType::int32, {std::ssize(*table)});
    copy_from_host(device, table->data(), *tensor);
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

Generation::Generation(const Network& network, ParameterBlock& parameters, const Device& device,
                       const BatchSize& largest, std::int64_t capacity)
    : network_(generating(network)),
      parameters_(parameters),
      plan_(plan_generation(network, largest, capacity)),
      arena_("encore::generation", plan_.arena_bytes),
      cache_(device, largest.sequences, capacity),
      first_(device, largest, network.needs()),
      later_(device, largest, network.needs()),
      pass_(network, plan_, parameters, device, arena_.data()) {}

void Generation::begin(const PackedBatch& batch) {
  ENCORE_REQUIRE(!batch.sequences.empty(), "a generation is of one text at least");
  const PackedRows& rows = has_sources() ? batch.target : batch;
  run(batch, lengths_after(rows, std::vector<std::int64_t>(batch.sequences.size(), 0), cache_.capacity()),
      true);
}

void Generation::next(const PackedBatch& batch) {
  ENCORE_REQUIRE(!lengths_.empty(), "Generation::begin comes first");
  ENCORE_REQUIRE(!has_sources() || batch.ids.empty(), "the sources are those of the first pass");
  run(batch, lengths_after(has_sources() ? batch.target : batch, lengths_, cache_.capacity()), false);
}

void Generation::run(const PackedBatch& packed, std::vector<std::int64_t> lengths, bool first_pass) {
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
  pass_.start(batch_, 0, 0);
  pass_.forward();
}

void Generation::require_planned(const BatchSize& size) const {
  const auto text = [](const RowSetSize& of) {
    return std::to_string(of.tokens) + " rows of " + std::to_string(of.sequences) + " texts (" +
           std::to_string(of.longest) + " of the longest, " + std::to_string(of.squares) +
           " as the sum of their squares)";
  };
  const auto rows = [&](const BatchSize& of) {
    return has_sources() ? text(of.target) + " with sources of " + text(of) : text(of);
  };
  ENCORE_REQUIRE(plan_.holds(size),
                 "a pass of " + rows(size) + " is larger than planned: " + rows(plan_.largest));
}

}  // namespace encore
