// SPDX-License-Identifier: BSD-3-Clause
// Formats the state of a run with its colour, as a cell for all tables of runs (run_list.cpp, status_verb.cpp
// and others). Read next: state_cell.hpp.
#include "cli/state_cell.hpp"

namespace encore::cli {

Cell state_cell(store::RunState state) {
  switch (state) {
    case store::RunState::completed:
      return {store::name_of(state), Style::green};
    case store::RunState::running:
      return {store::name_of(state), Style::cyan};
    case store::RunState::failed:
      return {store::name_of(state), Style::red};
    case store::RunState::interrupted:
    case store::RunState::lost:
    case store::RunState::stopped:
    case store::RunState::pruned:
      return {store::name_of(state), Style::yellow};
    case store::RunState::pending:
      break;
  }
  return {store::name_of(state), Style::dim};
}

Cell state_cell(store::RunState state, const std::optional<runner::SchedulerNote>& note) {
  return note && !note->begun ? Cell{"queued", Style::dim} : state_cell(state);
}

}  // namespace encore::cli
