// SPDX-License-Identifier: BSD-3-Clause
// Keeps the ranks of a run in agreement between its steps. Only rank 0 writes, so states are sent to it;
// a request to rank 0 counts for all; and parameters, of which every rank has its own copy, are
// compared. The flow is: Trainer, Snapshots -> here -> Communicator. With one process all of it does
// nothing.
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

namespace encore {

/// Returns, on rank 0, an optimizer state of all elements, of which each rank has what it owns; nothing on
/// all others. Waits for the device.
HostBlock gather_state(Communicator& ranks, const Model& model, std::size_t state);

/// Throws Error on every rank if one has other parameters than rank 0; it names the rank and the first
/// tensor. digest: that of the parameters, with tensors if they are known.
void require_equal_ranks(Communicator& ranks, const Digested& digest);

/// Throws Error on every rank if one has another `text` than rank 0. `what` names it, as in "the numeric
/// environment".
void require_equal_texts(Communicator& ranks, const std::string& what, const std::string& text);

/// The observer of all ranks but the first, which reports for all.
class SilentObserver final : public Observer {
 public:
  void happened(const Event&) override {}
  void measures(std::span<const Measure>) override {}
  void resumed(const Resumption&) override {}
  void stepped(const StepReport&) override {}
  void scoring(Split, const EvaluationProgress&) override {}
  void saving() override {}
};

/// Passes the requests to rank 0 on to all ranks.
class SharedControl final : public Control {
 public:
  /// control: that of rank 0; null on all others. Both outlive it.
  SharedControl(Communicator& ranks, Control* control) : ranks_(ranks), control_(control) {}

  Request poll() override;
  std::string why_not_owner() override { return control_ != nullptr ? control_->why_not_owner() : ""; }

 private:
  Communicator& ranks_;
  Control* control_;
};

}  // namespace encore
