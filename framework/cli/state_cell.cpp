// SPDX-License-Identifier: BSD-3-Clause
// Formats the state of a run with its colour, as a cell for all tables of runs (run_list.cpp, status_verb.cpp
// and others). Read next: state_cell.hpp.
#include "cli/state_cell.hpp"

namespace encore {

Cell state_cell(RunState state) {
  switch (state) {
    case RunState::completed:
      return {name_of(state), Style::green};
    case RunState::running:
      return {name_of(state), Style::cyan};
    case RunState::failed:
      return {name_of(state), Style::red};
    case RunState::interrupted:
    case RunState::lost:
    case RunState::stopped:
    case RunState::pruned:
      return {name_of(state), Style::yellow};
    case RunState::pending:
      break;
  }
  return {name_of(state), Style::dim};
}

Cell state_cell(RunState state, const std::optional<SchedulerNote>& note) {
  return note && !note->begun ? Cell{"queued", Style::dim} : state_cell(state);
}

}  // namespace encore
