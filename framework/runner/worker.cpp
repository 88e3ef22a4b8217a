// SPDX-License-Identifier: BSD-3-Clause
// ChildLauncher: starts a worker as a child of this process, with a control pipe; launcher_of() returns it
// for a WorkerPlace that names no launcher. Attempt uses it through the interface in worker.hpp;
// launched_worker.cpp has the other kind. The two kinds must look alike to an attempt. Read worker.hpp
// first.
#include "runner/worker.hpp"

namespace encore::runner {

namespace {

class ChildWorker final : public Worker {
 public:
  ChildWorker(const WorkOrder& order, const WorkerPlace& place)
      : process_(order.program, order.arguments, order.log, place) {}

  std::optional<WorkerEnd> end() override {
    const std::optional<ProcessEnd> end = process_.wait_for(std::chrono::milliseconds(0));
    return end ? std::optional(WorkerEnd{.process = *end}) : std::nullopt;
  }
  void send(record::ControlCommand command) override { process_.send(command); }
  void quit() override { process_.quit(); }
  void kill() override { process_.kill(); }
  int exit_descriptor() const override { return process_.exit_descriptor(); }

 private:
  WorkerProcess process_;
};

class ChildLauncher final : public Launcher {
 public:
  std::unique_ptr<Worker> start(const WorkOrder& order, const WorkerPlace& place) const override {
    return std::make_unique<ChildWorker>(order, place);
  }
  world::ProcessIdentity holder(const WorkerPlace&) const override { return world::this_process(); }
};

}  // namespace

const Launcher& launcher_of(const WorkerPlace& place) {
  static const ChildLauncher here;
  return place.launcher ? *place.launcher : here;
}

}  // namespace encore::runner
