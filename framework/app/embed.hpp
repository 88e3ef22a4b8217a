// SPDX-License-Identifier: BSD-3-Clause
// embed(): vectors, nearest neighbours and analogies from a run's model, for `exp embed`. cli/embed_verb.cpp
// calls it and prints the answer. The worker computes it and answers in JSON (record/embed_request.hpp, a
// contract with worker/embed_verb.cpp).
#pragma once

#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/embed_request.hpp"

namespace encore::app {

struct EmbedTextRequest {
  std::vector<std::string> near;  ///< words, or with `texts` inputs, whose neighbours are wanted
  std::string texts;              ///< file with a corpus, one input a line; "-": standard input; empty: none
  std::vector<std::string> analogy;  ///< three words A B C: what is to C as A is to B
  int count = 10;                    ///< number of neighbours
  bool json = false, csv = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;                ///< the first argument: a word that selects one run
  std::vector<std::string> text;  ///< inputs from the command line, whose vectors are printed
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
