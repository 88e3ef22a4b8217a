// SPDX-License-Identifier: BSD-3-Clause
// StepCase is one configuration of a training step (precision, batch size, length), with a model of its own
// and some batches that are the same in every round. worker/bench_verb.cpp makes one for each case of the
// request, and measures all of them in turn, round after round. Samples and facts are stored by name
// (analysis/bench_summary.cpp reads them), and batches follow from the seed, so both stay: else measurements
// of different days cannot be compared.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "bench/bare_products.hpp"
#include "bench/energy_meter.hpp"
#include "bench/kernel_work.hpp"
#include "bench/machine.hpp"
#include "bench/order_cost.hpp"
#include "distributed/communicator.hpp"
#include "infer/setup.hpp"
#include "record/bench_request.hpp"
#include "train/training_step.hpp"

namespace encore::bench {

/// The encoded training set of an experiment; cases with equal data share it.
struct BenchData {
  std::unique_ptr<tasks::TaskSets> sets;
  std::size_t vocabulary_size = 0;
  std::size_t targets = 0;  ///< tokens of the targets' own vocabulary; 0: both sides share one
};
/// Encodes the training set. `folder` is that of the measurement; a vocabulary in it is used.
BenchData load_bench_data(const infer::LoadedExperiment& loaded, const std::filesystem::path& folder);

class StepCase {
 public:
  /// `batches` is the number of batches. With several ranks, every rank must call the constructor, measure()
  /// and facts(). Throws Error if the training set has too few batches.
  StepCase(const record::BenchCaseRequest& request, infer::LoadedExperiment loaded, const BenchData& data,
           std::int64_t batches, bool order_cost, const Device& device, distributed::Communicator& ranks);

  /// Returns seconds per step, the mean over the batches: "step" (upload, gradients, update), "matmul" (its
  /// matrix products alone, in the library's best way), "gemm" (the same through our interface),
  /// "watched_step" and "kernel LABEL" (by KernelWatch); with order_cost also "free NAME" (order_cost.hpp).
  /// With several ranks these are the seconds of this rank, its products have its share of the tokens, and
  /// "exchange" is the time in "step" in which it waited for others and moved bytes. Where the energy of the
  /// packages can be read, "joules" is that of "step".
  record::Samples measure(kernels::GemmLibrary& free_gemm);
  /// Returns what does not depend on time: batch sizes, tokens, parameters, memory, the digest of the
  /// gradients of the first step ("gradient_digest", one process only), and for each kernel calls, operations
  /// and bytes. It is complete after the first measure().
  nlohmann::json facts() const;

  const config::Experiment& experiment() const { return loaded_.experiment; }
  const plugin_host::Registry& registry() const { return loaded_.registry; }
  const Device& device() const { return device_; }

 private:
  void take_batches(const BenchData& data, std::int64_t length, std::int64_t count);
  /// Sets the state after an epoch: each row of the training set's tokens has had a gradient. The few batches
  /// of a measurement would leave most of them untouched, which costs an update less than it does in a run.
  void mark_all_tokens(const BenchData& data);
  /// Works like the trainer: on a GPU the next batch is uploaded while the device computes.
  void step(std::size_t batch);
  /// Returns the rows of a batch, of which this rank has a share.
  BatchSize own_rows(const data::PackedBatch& batch) const;
  /// Runs a step of each batch under a watch.
  void watch(record::Samples& samples);
  nlohmann::json kernel_facts() const;

  /// The measurement of one kernel by a watch, summed over the batches.
  struct Kernel {
    std::int64_t calls = 0;
    std::optional<KernelWork> work;
    bool within_product = false;
  };

  infer::LoadedExperiment loaded_;
  const Device& device_;
  distributed::Communicator& ranks_;
  DType type_;
  std::uint64_t seed_;
  std::vector<data::PackedBatch> batches_;
  BatchSize largest_;
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<model::DeviceBatch> uploaded_;  ///< the batch of the latest step
  std::unique_ptr<model::DeviceBatch> next_;      ///< the next batch if it is uploaded ahead, else null
  std::optional<std::size_t> ahead_;              ///< the index of the batch in `next_`
  std::unique_ptr<train::TrainingStep> update_;
  std::unique_ptr<BareProducts> products_;
  std::unique_ptr<OrderCost> order_cost_;
  std::int64_t steps_ = 0;
  std::string gradient_digest_;  ///< SHA-256 of the gradients of the first step; empty with several ranks
  EnergyMeter energy_;
  std::map<std::string, Kernel> kernels_;
  std::int64_t allocations_ = 0, allocated_bytes_ = 0;  ///< in the latest watched steps
};

}  // namespace encore::bench
