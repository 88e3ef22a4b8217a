// SPDX-License-Identifier: BSD-3-Clause
// Keeps the ranks (processes) of a run in agreement between steps. Only rank 0 writes, so states are sent to
// it. A request to rank 0 applies to all ranks. Each rank has its own copy of the parameters, so copies are
// compared. Trainer and Snapshots -> this -> Communicator. With one process nothing happens. Every rank must
// make the same calls in the same order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/communicator.hpp"
#include "model/model.hpp"
#include "record/events.hpp"
#include "train/control.hpp"
#include "train/host_block.hpp"
#include "train/observer.hpp"

namespace encore::train {

/// Returns a whole optimizer state on rank 0, of which each rank owns a part; an empty block on the other
/// ranks. Waits for the device.
HostBlock gather_state(distributed::Communicator& ranks, const model::Model& model, std::size_t state);

/// Throws Error on every rank if a rank has other parameters than rank 0; the message has that rank and the
/// first differing tensor. `digest`: digest of this rank's parameters, with tensors if they are known.
void require_equal_ranks(distributed::Communicator& ranks, const record::Digested& digest);

/// Throws Error on every rank if a rank has another `text` than rank 0. `what` is its name in the message,
/// such as "the numeric environment".
void require_equal_texts(distributed::Communicator& ranks, const std::string& what, const std::string& text);

/// The observer of all ranks except rank 0, which reports for all.
class SilentObserver final : public Observer {
 public:
  void happened(const record::Event&) override {}
  void measures(std::span<const Measure>) override {}
  void resumed(const Resumption&) override {}
  void stepped(const StepReport&) override {}
  void scoring(data::Split, const infer::EvaluationProgress&) override {}
  void saving() override {}
};

/// The control of each rank: distributes the requests that rank 0 receives.
class SharedControl final : public Control {
 public:
  /// `control`: that of rank 0; null on other ranks. Both arguments must outlive this object.
  SharedControl(distributed::Communicator& ranks, Control* control) : ranks_(ranks), control_(control) {}

  Request poll() override;
  std::string why_not_owner() override { return control_ != nullptr ? control_->why_not_owner() : ""; }

 private:
  distributed::Communicator& ranks_;
  Control* control_;
};

}  // namespace encore::train
