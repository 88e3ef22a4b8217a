// stop: asks whoever works on a run, on a sweep, or on anything in the database to checkpoint and end, or to
// kill the worker, on this machine or on another that sees the same folder. An exp run that still plans is
// asked as well.
#pragma once

#include <vector>

#include "app/run_selection.hpp"
#include "runner/inactivity.hpp"
#include "runner/session_file.hpp"

namespace encore {

struct StopRequest {
  bool all = false;
  bool kill = false;
  bool json = false;
  SelectionRequest selection;
};

Form<StopRequest> stop_form();

struct AskedRun {
  RunRow run;
  enum class How {
    asked,      ///< it writes a checkpoint first
    inactive,   ///< it ends only after a step, and none came for long
    killed,     ///< its worker is killed now
    withdrawn,  ///< its job had not begun with it
    begun,      ///< its job has just begun with it; it is asked
  } how = How::asked;
  Inactivity inactivity = {};
};
const char* name_of(AskedRun::How how);

struct StopResult {
  std::vector<RunRow> runs;           ///< that are meant; not with --all
  std::vector<AskedRun> asked;        ///< those of them that were running
  std::vector<OpenSession> sessions;  ///< that were asked, and to which none of these runs belongs
};

StopResult stop(const StopRequest& request, const App& app);

}  // namespace encore
