// rm, undelete and gc: runs out of sight and back, or for good, and what nothing needs any more in their
// folders.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "store/garbage.hpp"

namespace encore {

struct RmRequest {
  bool purge = false;
  bool force = false;
  bool yes = false;
  bool json = false;
  SelectionRequest selection;
};

Form<RmRequest> rm_form();

struct RmResult {
  std::vector<RunRow> runs;  ///< that were removed
  bool declined = false;     ///< the user was asked and did not agree
};
/// Throws Error where another run, which stays, starts or learns from one of these.
RmResult remove_runs(const RmRequest& request, const App& app);

struct UndeleteRequest {
  bool json = false;
  SelectionRequest selection;
};

Form<UndeleteRequest> undelete_form();

/// The runs that are back.
std::vector<RunRow> undelete_runs(const UndeleteRequest& request, const App& app);

struct GcRequest {
  bool dry_run = false;
  bool json = false, csv = false;
  bool yes = false;
  SelectionRequest selection;
};

Form<GcRequest> gc_form();

/// What was removed, or would be; nothing where the user was asked and did not agree.
std::optional<std::vector<Garbage>> collect_garbage(const GcRequest& request, const App& app);

}  // namespace encore
