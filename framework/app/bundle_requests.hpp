// SPDX-License-Identifier: BSD-3-Clause
// The requests of bundle, bundle show and db merge. exp reads them from the command line; the component
// exp-report does the work (cli/components.hpp; cli/bundle_verb.cpp, cli/bundle_show.cpp, cli/db_merge.cpp).
// verify.hpp has the request of verify, which takes runs and bundles. A new option is a member here and a
// line in its form in bundle_requests.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_selection.hpp"

namespace encore::app {

struct BundleRequest {
  std::string output;                  ///< NAME.tar.zst
  bool data = false;                   ///< also pack the files that the runs read
  bool take_private = false;           ///< also pack the data of runs with [data] private = true
  std::string weights = "best";        ///< "none", "best" or "all" checkpoints
  std::vector<std::string> sources;    ///< folders with the sources of plugins
  std::optional<std::string> licence;  ///< "CC-BY-4.0"; not given: none
  std::optional<std::string> author;   ///< names, separated by commas
  bool json = false;
  bool quiet = false;
  SelectionRequest selection;
};

struct BundleShowRequest {
  bool claims = false;  ///< print every value that the sender claims and that was not computed again
  std::string report;   ///< HTML file to write; empty: none
  bool files = false;   ///< list every file of the bundle
  bool diff = false;    ///< print only the changes to the recorded commits
  std::vector<std::string> plugin_path;
  bool json = false, csv = false;
  std::string file;  ///< NAME.tar.zst
};

struct DbMergeRequest {
  bool dry_run = false;  ///< only show what would be copied
  bool json = false, csv = false;
  std::vector<std::string> database;  ///< other databases and bundles; they are only read
};

Form<BundleRequest> bundle_form();
Form<BundleShowRequest> bundle_show_form();
Form<DbMergeRequest> db_merge_form();

}  // namespace encore::app
