// SPDX-License-Identifier: BSD-3-Clause
// The requests of the actions of `exp index`, which keep an index of documents outside of an application. exp
// reads them from the command line; the component exp-index does the work (app/index.hpp,
// cli/index_verb.cpp). Each names the folder of its index first. A new option is a member here and a line in
// its form in index_requests.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/form.hpp"
#include "app/run_plugins.hpp"

namespace encore::app {

struct IndexBuildRequest {
  std::string folder;
  std::string documents;             ///< the file with the documents
  std::optional<std::string> model;  ///< a word that selects the run whose model makes the vectors
  bool stemming = false, stop_words = false;
  int passage_words = 0;  ///< 0: documents stay whole
  int overlap_words = 0;
  ModelRequest model_options;
  bool json = false;
};

struct IndexAddRequest {
  std::string folder, documents;
  bool replace = false;              ///< also documents that the index has
  std::optional<std::string> model;  ///< not given: the run that the index names
  ModelRequest model_options;
  bool json = false;
};

struct IndexRemoveRequest {
  std::string folder;
  std::vector<std::string> ids;
  std::string from;  ///< a file with an id on each line; "": none
  bool json = false;
};

struct IndexQueryRequest {
  std::string folder;
  std::vector<std::string> text;      ///< the queries; empty: lines of standard input, unless `like` is given
  std::vector<std::string> like;      ///< ids of documents of the index, in place of queries
  int count = 10;                     ///< documents for each query
  int depth = 100;                    ///< documents that each part finds before they are joined
  std::optional<std::string> method;  ///< not given: ranks, or words if the index has no vectors
  std::optional<double> weight;       ///< of the vectors, for the method weighted
  std::optional<std::string> model;   ///< as in IndexAddRequest
  ModelRequest model_options;
  bool explain = false;  ///< print rank and score of each part
  bool json = false, csv = false;
};

struct IndexShowRequest {
  std::string folder;
  bool json = false;
};

Form<IndexBuildRequest> index_build_form();
Form<IndexAddRequest> index_add_form();
Form<IndexRemoveRequest> index_remove_form();
Form<IndexQueryRequest> index_query_form();
Form<IndexShowRequest> index_show_form();

}  // namespace encore::app
