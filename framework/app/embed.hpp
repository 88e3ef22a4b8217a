// SPDX-License-Identifier: BSD-3-Clause
// embed: vectors, nearest neighbours and analogies from a run's model. The worker computes them and answers
// in JSON.
#pragma once

#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/embed_request.hpp"

namespace encore::app {

struct EmbedTextRequest {
  std::vector<std::string> near;
  std::string texts;
  std::vector<std::string> analogy;
  int count = 10;
  bool json = false, csv = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;
  std::vector<std::string> text;
};

Form<EmbedTextRequest> embed_form();

struct Embedding {
  std::string run;  ///< name
  record::EmbedAnswer answer = {};
  std::string text =
      {};  ///< the worker's own text instead, for vectors as JSON, which can be millions of numbers
  bool of_words = false;  ///< neighbours are words, not lines of the corpus
};
/// Asks the worker for vectors, neighbours or analogies. `corpus` is the content of the file of --texts, if
/// given.
Embedding embed(const EmbedTextRequest& request, const App& app, const std::string& corpus);

}  // namespace encore::app
