// encore-worker-check-plugin: the contract suite for exp plugin check (program.hpp).
#include "worker/program.hpp"

namespace {

int check_plugin(const encore::WorkerCall& call) {
  const std::vector<std::string> files = call.texts("file");
  return encore::check_plugin_verb(files.empty() ? std::string() : files.front(), call.text("data"),
                                   call.flag("digests"));
}

}  // namespace

int main(int argc, char** argv) {
  return encore::run_worker_program(argc, argv, {{"check-plugin", {check_plugin}}});
}
