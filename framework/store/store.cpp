// SPDX-License-Identifier: BSD-3-Clause
// Names of run states, and opening and closing of a Store. The other members are in add_runs.cpp, runs.cpp,
// attempts.cpp, queries.cpp and parents.cpp. Names of states are stored, so they do not change. Read
// store.hpp first.
#include "store/store.hpp"

#include "record/run_paths.hpp"

namespace encore::store {

namespace {

constexpr RunState all_states[] = {RunState::pending, RunState::running,     RunState::completed,
                                   RunState::failed,  RunState::interrupted, RunState::lost,
                                   RunState::stopped, RunState::pruned};

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::pending:
      return "pending";
    case RunState::running:
      return "running";
    case RunState::completed:
      return "completed";
    case RunState::failed:
      return "failed";
    case RunState::interrupted:
      return "interrupted";
    case RunState::lost:
      return "lost";
    case RunState::stopped:
      return "stopped";
    case RunState::pruned:
      return "pruned";
  }
  return "unknown";
}

std::optional<RunState> run_state_from(std::string_view name) {
  for (RunState state : all_states) {
    if (name == name_of(state)) return state;
  }
  return std::nullopt;
}

Store::Store(const std::filesystem::path& path, OpenMode mode, std::chrono::milliseconds patience)
    : path_(path), database_(open_encore_database(path, mode, patience)) {}

Store::~Store() = default;

std::filesystem::path Store::runs_folder() const {
  return record::runs_folder_of(path_);
}

std::filesystem::path Store::run_folder(const std::string& run_id) const {
  return runs_folder() / record::require_run_id(run_id, "database " + path_.string());
}

}  // namespace encore::store
