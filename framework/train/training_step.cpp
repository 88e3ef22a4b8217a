// SPDX-License-Identifier: BSD-3-Clause
// TrainingStep: gradients of a batch, their norm, and the update, for one process and for several ranks. The
// trainer and `exp bench` call it. Read training_step.hpp first, which says what both cases have in common.
#include "train/training_step.hpp"

#include <algorithm>
#include <cmath>

#include <encore/kernels.hpp>
#include <encore/sliced_update.hpp>

#include "record/crash_line.hpp"

namespace encore::train {
namespace {

std::optional<UpdateReach> reach_of(const Optimizer& optimizer) {
  const auto* sliced = dynamic_cast<const SlicedUpdate*>(&optimizer);
  return sliced != nullptr ? std::optional(sliced->reach()) : std::nullopt;
}

}  // namespace

TrainingStep::TrainingStep(model::Model& model, Optimizer& optimizer, double clip_norm,
                           const std::string& optimizer_owner)
    : model_(model),
      optimizer_(optimizer),
      clip_norm_(clip_norm),
      update_text_(record::work_text("update", "", optimizer_owner)),
      clipping_("encore::clipping", 2 * sizeof(double)),
      squares_(reinterpret_cast<double*>(clipping_.data())),
      clip_(squares_ + 1) {}

TrainingStep::TrainingStep(model::Model& model, Optimizer& optimizer, double clip_norm,
                           const std::string& optimizer_owner, distributed::Communicator& ranks,
                           std::int64_t shards)
    : TrainingStep(model, optimizer, clip_norm, optimizer_owner) {
  if (ranks.size() == 1) return;
  exchange_ = std::make_unique<GradientExchange>(ranks, model.device(), model.parameters(),
                                                 model.network().first_users(), shards, reach_of(optimizer));
  rounds_ = shards / ranks.size();
}

void TrainingStep::upload(const data::PackedBatch& packed, model::DeviceBatch& batch) {
  if (!exchange_) return batch.upload(packed);
  exchange_->begin(packed);
  batch.upload(packed, exchange_->share());
}

TrainingStep::Gradient TrainingStep::compute_gradient(const model::DeviceBatch& batch,
                                                      model::StepRandom random,
                                                      const std::function<void()>& meanwhile) {
  const double* loss = nullptr;
  if (exchange_) {
    loss = exchanged_gradient(batch, random);
  } else {
    loss = model_.forward_backward(batch, batch.scales(), random);
    model_.parameters().sum_gradient_squares(squares_);
  }
  kernels::clip_scale(model_.device(), squares_, clip_norm_, model_.loss_factor(), clip_);
  if (meanwhile) meanwhile();
  return {model_.read(loss), std::sqrt(model_.read(squares_)) / model_.loss_factor()};
}

const double* TrainingStep::exchanged_gradient(const model::DeviceBatch& batch, model::StepRandom random) {
  const model::ShardShare share = exchange_->share();
  const auto& own = batch.shards();
  auto next = own.begin();
  model_.begin_gradients();
  exchange_->mark_rows();
  for (std::int64_t round = 0; round < rounds_; ++round) {
    const std::int64_t first = round * share.stride;
    if (next != own.end() && next->number == first + share.first)
      model_.shard_gradient(*next++, batch.scales(), random,
                            [&](std::size_t node) { exchange_->node_done(first, node); });
    exchange_->add_round(first);
  }
  exchange_->share_losses(model_.loss_sums());
  if (exchange_->sliced()) {
    exchange_->sum_gradient_squares(squares_);
    return model_.end_gradients(exchange_->shard_count(), batch.scales());
  }
  exchange_->share_gradients();
  const double* loss = model_.end_gradients(exchange_->shard_count(), batch.scales());
  model_.parameters().sum_gradient_squares(squares_);
  return loss;
}

void TrainingStep::update(double learning_rate, std::int64_t step) {
  const record::CurrentWork work(update_text_.c_str());
  optimizer_.update(model_.device(), model_.parameters().blocks(clip_), learning_rate, step);
  if (exchange_ && exchange_->sliced()) exchange_->share_values();
}

}  // namespace encore::train
