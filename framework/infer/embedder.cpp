// SPDX-License-Identifier: BSD-3-Clause
// Implements Embedder, which Engine::embed (`exp embed`, the server, the C library) calls: forms batches by
// length, runs the encoder, and takes the mean over the rows of each sequence. Sums over rows are in double
// and in the order of the rows, so that vectors do not depend on batches; keep both. Read embedder.hpp first.
#include "infer/embedder.hpp"

namespace encore::infer {
namespace {

/// Returns the needs of a batch for the encoder alone: no picked rows and no targets.
data::BatchNeeds encoder_needs(data::BatchNeeds needs) {
  needs.picked = needs.target = false;
  needs.losses.clear();
  return needs;
}

}  // namespace

Embedder::Embedder(model::Model& model, const BatchSize& largest, const data::BatchOptions& options,
                   std::size_t width)
    : model_(model),
      width_(width),
      options_(options),
      needs_(encoder_needs(model.needs())),
      batch_(model.device(), largest, needs_),
      mean_(width) {}

Vectors Embedder::run(const ExampleSet& texts) {
  data::Packer packer(texts, needs_);
  Vectors found{.width = width_};
  found.values.resize(texts.size() * width_);
  for (const std::vector<std::int32_t>& members :
       data::plan_evaluation(data::example_lengths(texts), options_)) {
    packer.pack(members, packed_);
    batch_.upload(packed_);
    model_.encode(batch_, [&](Tensor states) { add_means(states, found); });
  }
  return found;
}

/// Writes the mean of each sequence's rows to its place in `found`. `states`: (N, C) of the packed batch.
void Embedder::add_means(Tensor states, Vectors& found) {
  const std::span<const float> rows = states_.read(model_.device(), states);
  for (std::size_t s = 0; s + 1 < packed_.offsets.size(); ++s) {
    for (auto row = packed_.offsets[s]; row < packed_.offsets[s + 1]; ++row)
      mean_.add(rows.subspan(static_cast<std::size_t>(row) * width_, width_));
    const auto place = static_cast<std::size_t>(packed_.sequences[s]) * width_;
    mean_.finish(std::span(found.values).subspan(place, width_));
  }
}

}  // namespace encore::infer
