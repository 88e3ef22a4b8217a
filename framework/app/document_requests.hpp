// SPDX-License-Identifier: BSD-3-Clause
// The requests of report, compare, attention and export. exp reads them from the command line; the component
// exp-report does the work (cli/components.hpp; cli/report_verb.cpp, cli/compare_verb.cpp,
// cli/attention_verb.cpp, cli/export_verb.cpp). Members without a comment are the option of the same name,
// which document_requests.cpp explains. A new option is a member here and a line in the form there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"

namespace encore::app {

struct ReportRequest {
  std::string output;                    ///< file to write; empty: standard output
  std::optional<std::string> format;     ///< not given: by the extension of `output`
  std::optional<std::string> templates;  ///< --template: a file or a folder
  std::optional<std::string> table;      ///< for CSV: write only the table with this id
  bool brief = false;                    ///< two pages
  std::optional<std::string> sections;   ///< names, separated by commas; not given: all
  std::optional<std::string> without;    ///< names of sections, separated by commas
  std::optional<std::string> metric;     ///< split/measure
  std::optional<std::string> against;    ///< older runs: a run, a sweep or a date
  std::optional<std::string> checklist;  ///< of a venue: "neurips"
  bool json = false;
  bool pool = false;  ///< runs that differ in plugin files or environments are one candidate too
  SelectionRequest selection;
};

struct CompareRequest {
  std::optional<std::string> metric;  ///< split/measure
  std::string by = "group";  ///< "group": all seeds of a question are one candidate; "run": each run is one
  bool pool = false;         ///< as in ReportRequest
  std::optional<double> detect;  ///< difference to detect, in the unit of the metric
  bool json = false;
  bool csv = false;
  bool pairs = false;  ///< with csv: the pairs instead of the candidates
  SelectionRequest selection;
};

struct AttentionPageRequest {
  std::string output;                 ///< .html or .svg; empty: RUN.attention.html
  std::optional<std::string> target;  ///< read by the decoder instead of the model's own output
  std::vector<std::string> layer;     ///< numbers of blocks or beginnings of paths; empty: all
  std::vector<std::int64_t> head;     ///< numbers from 0; empty: all
  bool json = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;
  std::vector<std::string> text;  ///< exactly one; a list, so that words without quotes get a good message
};

struct ExportRequest {
  std::string output;                  ///< folder to write, new or empty
  std::string format = "huggingface";  ///< "huggingface", "onnx" or "encore"
  std::optional<std::string> dtype;    ///< of huggingface; not given: as the run has them
  bool external_data = false;          ///< of onnx: weights in a file of their own
  bool json = false;
  ModelRequest model;
  SelectionRequest selection;
};

Form<ReportRequest> report_form();
Form<CompareRequest> compare_form();
Form<AttentionPageRequest> attention_form();
Form<ExportRequest> export_form();

}  // namespace encore::app
