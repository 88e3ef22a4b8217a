// SPDX-License-Identifier: BSD-3-Clause
// encore-worker-export: models as folders for other programs, for exp export (program.hpp).
#include "worker/program.hpp"

namespace {

int export_model(const encore::WorkerCall& call) {
  return encore::export_verb(call.trained_run(), {call.text("to"), call.text("format"), call.text("dtype"),
                                                  call.flag("external-data")});
}

}  // namespace

int main(int argc, char** argv) {
  return encore::run_worker_program(argc, argv, {{"export", {export_model}}});
}
