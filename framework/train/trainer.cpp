// SPDX-License-Identifier: BSD-3-Clause
// Trainer: the training loop. Epochs of steps, a dev score after each epoch, and at the end the best
// checkpoint scored on test. Every decision depends only on the specification and on Progress, so a resumed
// run ends with equal bits; keep that true. Read trainer.hpp first.
#include "train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>

#include "config/value.hpp"
#include "data/largest_batch.hpp"
#include "infer/setup.hpp"
#include "record/best_checkpoint.hpp"
#include "train/host_block.hpp"
#include "train/ranks.hpp"

namespace encore::train {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

data::Packing packing_of(const config::Experiment& experiment) {
  return {experiment.train.batching, experiment.data.max_length, 0};
}

}  // namespace

data::TrainingLength training_length(const config::Experiment& experiment, const tasks::TaskSets& sets,
                                     std::uint64_t seed) {
  const config::TrainTable& train = experiment.train;
  return data::training_length(
      data::example_lengths(infer::units_of(sets.task(), sets.set(data::Split::train).set)),
      infer::batch_options(train, seed), train.epochs, train.steps);
}

Trainer::Trainer(const TrainerParts& parts)
    : experiment_(parts.experiment),
      train_(parts.experiment.train),
      seed_(parts.seed),
      sets_(parts.sets),
      model_(parts.model),
      optimizer_(parts.optimizer),
      schedule_(parts.schedule),
      snapshots_(parts.snapshots),
      observer_(parts.observer),
      control_(parts.control),
      milestones_(parts.milestones),
      pretrained_(parts.pretrained),
      ranks_(parts.ranks),
      ties_(parts.ties),
      between_steps_(parts.between_steps ? parts.between_steps : std::function<void()>([] {})),
      units_(infer::units_of(sets_.task(), sets_.set(data::Split::train).set)),
      lengths_(data::example_lengths(units_)),
      batch_options_(infer::batch_options(train_, seed_)),
      packer_(units_, model_.needs(), packing_of(experiment_)),
      length_(data::training_length(lengths_, batch_options_, train_.epochs, train_.steps)),
      update_(model_, optimizer_, train_.clip_norm, parts.optimizer_owner, ranks_, train_.gradient_shards),
      loss_scaling_(train_),
      packs_ahead_(parts.packs_ahead && ranks_.size() == 1) {
  const auto largest = [&](std::int64_t shards) {
    return data::largest_batch(units_, batch_options_, packing_of(experiment_), shards, 0, length_.epochs);
  };
  const BatchSize evaluation = largest_evaluation(sets_, model_, batch_options_);
  const BatchSize whole = largest(1);
  model_.plan(train_.gradient_shards == 1 ? whole : largest(train_.gradient_shards), evaluation);
  for (std::size_t i = 0; i < (packs_ahead_ ? 2U : 1U); ++i)
    prepared_[i].uploaded =
        std::make_unique<model::DeviceBatch>(model_.device(), whole, model_.needs(), train_.gradient_shards);
  scoring_.emplace(parts, evaluation, batch_options_);
  snapshots_.keep(milestones_.save_at);
}

record::Ending Trainer::run() {
  restore_or_initialize();
  between_steps_();
  while (steps_remain()) {
    // This also happens if the run resumed after such a milestone.
    if (pauses_here()) return pause();
    if (const std::optional<record::Ending> ending = train_epoch()) return *ending;
    end_epoch();
    if (stops_here()) return end(record::Ending::interrupted, "trained as far as asked");
  }
  report_exchange();
  scoring_->conclude(progress_.best_step > 0 ? progress_.best_step : progress_.step, progress_.step);
  return end(record::Ending::completed, "");
}

std::optional<record::Ending> Trainer::train_epoch() {
  const auto batches = data::plan_epoch(lengths_, batch_options_, progress_.epoch);
  packer_.draw(sets_.task(), seed_, progress_.epoch);
  const auto ended = [&] {
    return progress_.batch == std::ssize(batches) || progress_.step == length_.steps;
  };
  while (!ended()) {
    if (!train_step(batches)) return end(record::Ending::failed, failure_);
    between_steps_();
    if (const std::optional<record::Ending> ending = after_step(ended())) return ending;
  }
  return {};
}

std::optional<record::Ending> Trainer::after_step(bool epoch_ends) {
  const auto is_due = [&](std::int64_t every) { return every > 0 && progress_.step % every == 0; };
  if (!epoch_ends && is_due(train_.evaluate_every) && evaluate_dev()) save(record::CheckpointKind::best);
  if (is_due(train_.checkpoint_every) || (!epoch_ends && milestones_.save_at.contains(progress_.step)))
    save(record::CheckpointKind::last);
  if (progress_.step == milestones_.die_after) std::raise(SIGKILL);
  if (!epoch_ends && pauses_here()) {
    save(record::CheckpointKind::last);
    return pause();
  }
  if (!epoch_ends && stops_here()) return end(record::Ending::interrupted, "trained as far as asked");
  const Request request = control_.poll();
  if (request != Request::none) save(record::CheckpointKind::last);
  if (request == Request::stop) return end(record::Ending::interrupted, "asked to stop");
  if (request == Request::orphaned)
    return end(record::Ending::interrupted, "the exp that started it is gone");
  return {};
}

void Trainer::restore_or_initialize() {
  model_.parameters().make_states(optimizer_.states());
  if (const std::optional<record::Progress> progress = snapshots_.restore_newest(model_, observer_)) {
    progress_ = *progress;
    saved_step_ = progress_.step;
    observer_.resumed({.step = progress_.step,
                       .total_steps = length_.steps,
                       .epoch = progress_.epoch + (progress_.batch > 0 ? 1 : 0)});
    observer_.happened(record::Logged{.text = "resumed after step " + std::to_string(progress_.step) +
                                              " of " + std::to_string(length_.steps)});
    return;
  }
  initialize();
  loss_scaling_.begin(progress_);
  report_digests();
}

void Trainer::initialize() {
  if (!pretrained_) return model_.initialize(seed_);
  const infer::PretrainedWeights weights = pretrained_(model_);
  model_.initialize(seed_, weights.fresh);
  observer_.happened(record::Logged{.text = weights.note});
}

bool Trainer::stops_here() const {
  return milestones_.stop_after > 0 && progress_.step >= milestones_.stop_after;
}

bool Trainer::pauses_here() const {
  const bool by_epoch = milestones_.stop_after_epoch > 0 && progress_.batch == 0 &&
                        progress_.epoch >= milestones_.stop_after_epoch;
  return by_epoch || (milestones_.pause_after_step > 0 && progress_.step >= milestones_.pause_after_step);
}

/// Ends the attempt at a rung of a search; the search may continue it later.
record::Ending Trainer::pause() {
  observer_.happened(record::Ended{.ending = record::Ending::interrupted,
                                   .reason = "trained as far as asked",
                                   .step = progress_.step,
                                   .epochs = progress_.epoch});
  return record::Ending::interrupted;
}

bool Trainer::steps_remain() const {
  // A checkpoint of the last step may have been written before the end of its epoch; then its dev score is
  // missing.
  return (progress_.step < length_.steps || progress_.batch > 0) &&
         (train_.patience == 0 || progress_.epochs_without_better < train_.patience);
}

void Trainer::prepare(const std::vector<std::int32_t>& members, std::size_t place) {
  Prepared& batch = prepared_[place];
  packer_.pack(members, batch.packed);
  update_.upload(batch.packed, *batch.uploaded);
}

void Trainer::prepare_next(const std::vector<std::vector<std::int32_t>>& batches) {
  const auto next = static_cast<std::size_t>(progress_.batch) + 1;
  if (!packs_ahead_ || next == batches.size() || progress_.step + 1 == length_.steps) return;
  prepare(batches[next], 1 - current_);
  next_is_ready_ = true;
}

bool Trainer::train_step(const std::vector<std::vector<std::int32_t>>& batches) {
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t step = progress_.step + 1;
  const model::StepRandom random{seed_, static_cast<std::uint64_t>(step)};

  if (next_is_ready_)
    current_ = 1 - current_;
  else
    prepare(batches[static_cast<std::size_t>(progress_.batch)], current_);
  next_is_ready_ = false;
  const Prepared& batch = prepared_[current_];
  model_.scale_loss(LossScaling::factor(progress_));
  const auto [loss, gradient_norm] =
      update_.compute_gradient(*batch.uploaded, random, [&] { prepare_next(batches); });
  const bool updates = std::isfinite(gradient_norm);
  if (!std::isfinite(loss) || (!updates && !LossScaling::overflowed(progress_))) {
    std::string origin;
    for (const std::string& found :
         distributed::gather_texts(ranks_, model_.first_not_finite(*batch.uploaded, random)))
      if (origin.empty()) origin = found;
    failure_ = "step " + std::to_string(step) + ": the " + (std::isfinite(loss) ? "gradient" : "loss") +
               " is not finite; it began in " + (origin.empty() ? std::string("the backward pass") : origin) +
               "; the last good checkpoint is that of step " + std::to_string(saved_step_) +
               ". A lower optimizer.learning_rate, a longer warm-up or train.clip_norm may help";
    return false;
  }

  const double learning_rate = optimizer_.learning_rate() * schedule_.factor(step);
  if (updates) update_.update(learning_rate, LossScaling::update_number(progress_, step));
  if (!updates || loss_scaling_.updated(progress_)) report_loss_scale(step, updates);
  step_seconds_ += seconds_since(begin);
  exchange_seconds_ += update_.take_exchange_seconds();
  scoring_->forget();
  progress_.step = step;
  ++progress_.batch;
  observer_.stepped({step, length_.steps, progress_.epoch + 1, loss, gradient_norm, learning_rate,
                     batch.packed.real_tokens, seconds_since(begin)});
  if (step <= train_.digest_steps) report_digests();
  return true;
}

void Trainer::report_loss_scale(std::int64_t step, bool updated) {
  observer_.happened(
      record::Logged{.text = "step " + std::to_string(step) + ": " +
                             (updated ? "" : "a gradient is not finite, and nothing is updated; ") +
                             "train.loss_scale is now " + config::shortest(progress_.loss_scale->factor)});
}

void Trainer::end_epoch() {
  const bool better = evaluate_dev();
  progress_.epochs_without_better = progress_.improved_in_epoch ? 0 : progress_.epochs_without_better + 1;
  progress_.improved_in_epoch = false;
  progress_.batch = 0;
  ++progress_.epoch;
  if (progress_.step > train_.digest_steps) report_digests();
  save(better ? record::CheckpointKind::best : record::CheckpointKind::last);
}

bool Trainer::evaluate_dev() {
  const record::DevScore score = scoring_->score_dev(progress_.step, progress_.epoch + 1);
  return record::take_score(progress_, score, train_.select.maximize, ties_);
}

void Trainer::save(record::CheckpointKind kind) {
  snapshots_.save(model_, progress_, scoring_->tuned(), kind, control_, observer_);
  saved_step_ = progress_.step;
}

void Trainer::report_digests() {
  const bool with_tensors = progress_.step <= train_.digest_steps || ranks_.size() > 1;
  std::vector<record::Digested> digests = digest_blocks(model_, progress_.step, with_tensors, ranks_);
  require_equal_ranks(ranks_, digests.front());
  if (progress_.step > train_.digest_steps) digests.front().tensors.clear();
  for (const record::Digested& digest : digests) observer_.happened(digest);
}

void Trainer::report_exchange() {
  if (ranks_.size() == 1 || step_seconds_ == 0.0) return;
  const auto percent = static_cast<int>(std::lround(100.0 * exchange_seconds_ / step_seconds_));
  observer_.happened(
      record::Logged{.text = std::to_string(percent) +
                             " % of the time of rank 0 in its steps went into the exchange with the "
                             "others, waiting included"});
}

record::Ending Trainer::end(record::Ending ending, const std::string& reason) {
  observer_.happened(record::Ended{.ending = ending, .reason = reason, .step = progress_.step});
  return ending;
}

}  // namespace encore::train
