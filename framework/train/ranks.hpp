// What a run with several ranks agrees on between its steps: rank 0 alone writes, so states travel to it;
// what is asked of rank 0 is asked of all; and parameters, of which every rank has its own copy, are
// compared. Place in the flow: Trainer, Snapshots -> here -> Communicator. With one process all of it is
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

/// An optimizer state of all elements, of which each rank has what it owns: on rank 0; nothing on all others.
/// Waits for the device.
HostBlock gather_state(Communicator& ranks, const Model& model, std::size_t state);

/// Throws Error on every rank where one has other parameters than rank 0, naming it and the first tensor.
/// digest: of the parameters, with tensors where they are known.
void require_equal_ranks(Communicator& ranks, const Digested& digest);

/// Throws Error on every rank where one has another `text` than rank 0: `what` as in "the numeric
/// environment".
void require_equal_texts(Communicator& ranks, const std::string& what, const std::string& text);

/// Of a rank that is not the first: the first one reports for all.
class SilentObserver final : public Observer {
 public:
  void happened(const Event&) override {}
  void measures(std::span<const Measure>) override {}
  void resumed(const Resumption&) override {}
  void stepped(const StepReport&) override {}
  void scoring(Split, const EvaluationProgress&) override {}
  void saving() override {}
};

/// What is asked of rank 0; the others do the same.
class SharedControl final : public Control {
 public:
  /// control: of rank 0; null on all others. Both outlive it.
  SharedControl(Communicator& ranks, Control* control) : ranks_(ranks), control_(control) {}

  Request poll() override;
  std::string why_not_owner() override { return control_ != nullptr ? control_->why_not_owner() : ""; }

 private:
  Communicator& ranks_;
  Control* control_;
};

}  // namespace encore
