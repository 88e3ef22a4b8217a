// SPDX-License-Identifier: BSD-3-Clause
// The verbs rm (hides or purges runs), undelete (restores hidden runs) and gc (removes garbage from the
// folders of runs; store/garbage.hpp says what is garbage). cli/rm_verb.cpp and cli/gc_verb.cpp call these
// functions and print the results. purge and gc delete for good, so both ask first: keep every question and
// every refusal.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "store/garbage.hpp"

namespace encore::app {

struct RmRequest {
  bool purge = false;  ///< delete for good, also hidden runs, instead of hiding
  bool force = false;  ///< also runs that others start from
  bool yes = false;    ///< do not ask
  bool json = false;
  SelectionRequest selection;
};

Form<RmRequest> rm_form();

struct RmResult {
  std::vector<store::RunRow> runs;  ///< the removed runs, or with `declined` those that stay
  bool declined = false;            ///< the user answered no
};
/// Hides or purges the selected runs. Throws Error, unless `force`, if a run that is kept starts from one of
/// them or has one as teacher, and for a purge if a run is being trained.
RmResult remove_runs(const RmRequest& request, const App& app);

struct UndeleteRequest {
  bool json = false;
  SelectionRequest selection;
};

Form<UndeleteRequest> undelete_form();

/// Returns the restored runs.
std::vector<store::RunRow> undelete_runs(const UndeleteRequest& request, const App& app);

struct GcRequest {
  bool dry_run = false;  ///< only list the garbage
  bool json = false, csv = false;
  bool yes = false;  ///< do not ask before folders of unknown runs are removed
  SelectionRequest selection;
};

Form<GcRequest> gc_form();

/// Returns the removed garbage, or with `dry_run` what would be removed; an empty list if there is none.
/// Returns std::nullopt if the user answered no: then nothing was removed.
std::optional<std::vector<store::Garbage>> collect_garbage(const GcRequest& request, const App& app);

}  // namespace encore::app
