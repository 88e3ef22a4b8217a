// SPDX-License-Identifier: BSD-3-Clause
// The requests of the actions of `exp review`. exp reads them from the command line; the component exp-serve
// does the work (app/review.hpp, cli/review_verb.cpp). Each names the file of its queue first. A new option
// is a member here and a line in its form in review_requests.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/form.hpp"

namespace encore::app {

struct ReviewNewRequest {
  std::string queue;  ///< the file to make
  std::string app;    ///< a word that selects the run of the application
  double audit = 0.02;
  double lease = 900.0;              ///< in seconds
  std::optional<double> keep_texts;  ///< in days; not given: inputs are not kept
  int opinions = 1;
  std::vector<std::string> label;  ///< labels to choose from beside those of the application
  bool json = false;
};

struct ReviewListRequest {
  std::string queue;
  bool done = false;  ///< decided items instead of waiting ones
  int limit = 20;
  bool json = false, csv = false;
};

struct ReviewNextRequest {
  std::string queue;
  std::string by;  ///< the reviewer; "": $USER
  std::string order = "uncertainty";
  bool json = false;
};

struct ReviewDecideRequest {
  std::string queue, item, label;
  std::string by;          ///< as in ReviewNextRequest
  bool new_label = false;  ///< the queue does not have the label yet
  bool json = false;
};

struct ReviewUndoRequest {
  std::string queue, item;
  std::string by;  ///< whose decision; "": the newest one
  bool json = false;
};

struct ReviewReleaseRequest {
  std::string queue, item;
  std::string by;  ///< as in ReviewNextRequest
  bool skip = false;
  bool json = false;
};

struct ReviewReportRequest {
  std::string queue;
  bool json = false, csv = false;
};

struct ReviewExportRequest {
  std::string queue;
  std::string output;                 ///< "": standard output
  std::optional<std::string> format;  ///< "tsv" or "jsonl"; not given: that of the application's data
  bool json = false;                  ///< describe the written file as JSON
};

struct ReviewForgetRequest {
  std::string queue;
  std::vector<std::string> items;
  std::optional<double> older_than;  ///< in days
  std::string by;                    ///< as in ReviewNextRequest
  bool json = false;
};

struct ReviewTrailRequest {
  std::string queue, item;
  bool json = false, csv = false;
};

Form<ReviewNewRequest> review_new_form();
Form<ReviewListRequest> review_ls_form();
Form<ReviewNextRequest> review_next_form();
Form<ReviewDecideRequest> review_decide_form();
Form<ReviewUndoRequest> review_undo_form();
Form<ReviewReleaseRequest> review_release_form();
Form<ReviewReportRequest> review_report_form();
Form<ReviewExportRequest> review_export_form();
Form<ReviewForgetRequest> review_forget_form();
Form<ReviewTrailRequest> review_trail_form();

}  // namespace encore::app
