// SPDX-License-Identifier: BSD-3-Clause
// rm, undelete and gc: hide, restore or purge runs, and remove garbage from their folders. cli/rm_verb.cpp
// and cli/gc_verb.cpp print the results.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "store/garbage.hpp"

namespace encore::app {

struct RmRequest {
  bool purge = false;
  bool force = false;
  bool yes = false;
  bool json = false;
  SelectionRequest selection;
};

Form<RmRequest> rm_form();

struct RmResult {
  std::vector<store::RunRow> runs;  ///< the removed runs
  bool declined = false;            ///< the user answered no
};
/// Throws Error if a run that stays starts or learns from one of these.
RmResult remove_runs(const RmRequest& request, const App& app);

struct UndeleteRequest {
  bool json = false;
  SelectionRequest selection;
};

Form<UndeleteRequest> undelete_form();

/// Returns the restored runs.
std::vector<store::RunRow> undelete_runs(const UndeleteRequest& request, const App& app);

struct GcRequest {
  bool dry_run = false;
  bool json = false, csv = false;
  bool yes = false;
  SelectionRequest selection;
};

Form<GcRequest> gc_form();

/// Returns the removed garbage, or with `dry_run` what would be removed. Returns an empty list if the user
/// answered no.
std::optional<std::vector<store::Garbage>> collect_garbage(const GcRequest& request, const App& app);

}  // namespace encore::app
