// SPDX-License-Identifier: BSD-3-Clause
// The requests of report, compare, attention and export. exp reads them from the command line; the component
// exp-report does the work (cli/components.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"

namespace encore::app {

struct ReportRequest {
  std::string output;
  std::optional<std::string> format;
  std::optional<std::string> templates;
  std::optional<std::string> table;
  bool brief = false;
  std::optional<std::string> sections;
  std::optional<std::string> without;
  std::optional<std::string> metric;
  std::optional<std::string> against;
  std::optional<std::string> checklist;
  bool json = false;
  bool pool = false;
  SelectionRequest selection;
};

struct CompareRequest {
  std::optional<std::string> metric;
  std::string by = "group";
  bool pool = false;
  std::optional<double> detect;
  bool json = false;
  bool csv = false;
  bool pairs = false;
  SelectionRequest selection;
};

struct AttentionPageRequest {
  std::string output;
  std::optional<std::string> target;
  std::vector<std::string> layer;
  std::vector<std::int64_t> head;
  bool json = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;
  std::vector<std::string> text;
};

struct ExportRequest {
  std::string output;
  std::string format = "huggingface";
  std::optional<std::string> dtype;
  bool external_data = false;
  bool json = false;
  ModelRequest model;
  SelectionRequest selection;
};

Form<ReportRequest> report_form();
Form<CompareRequest> compare_form();
Form<AttentionPageRequest> attention_form();
Form<ExportRequest> export_form();

}  // namespace encore::app
