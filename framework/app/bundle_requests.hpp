// SPDX-License-Identifier: BSD-3-Clause
// The requests of bundle, bundle show and db merge. exp reads them from the command line; the component
// exp-report does the work (cli/components.hpp). verify.hpp has the request of verify, which takes runs and
// bundles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_selection.hpp"

namespace encore::app {

struct BundleRequest {
  std::string output;
  bool data = false;
  bool take_private = false;
  std::string weights = "best";
  std::vector<std::string> sources;
  std::optional<std::string> licence;
  std::optional<std::string> author;
  bool json = false;
  bool quiet = false;
  SelectionRequest selection;
};

struct BundleShowRequest {
  bool claims = false;
  std::string report;
  bool files = false;
  bool diff = false;
  std::vector<std::string> plugin_path;
  bool json = false, csv = false;
  std::string file;
};

struct DbMergeRequest {
  bool dry_run = false;
  bool json = false, csv = false;
  std::vector<std::string> database;
};

Form<BundleRequest> bundle_form();
Form<BundleShowRequest> bundle_show_form();
Form<DbMergeRequest> db_merge_form();

}  // namespace encore::app
