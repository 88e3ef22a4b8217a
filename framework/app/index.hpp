// SPDX-License-Identifier: BSD-3-Clause
// What the actions of `exp index` do: build an index in a folder, add and remove documents, find documents,
// and describe an index. cli/index_verb.cpp calls these functions and prints; encore/document_index.hpp
// writes and searches the files. Each change writes a whole new index and puts it in place at the end, so a
// killed process leaves the old one. Read next: index_requests.hpp, text_encoder.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/document_index.hpp>

#include "app/app.hpp"
#include "app/index_requests.hpp"

namespace encore::app {

/// What an index has.
struct IndexFacts {
  std::string folder;  ///< as the user wrote it
  std::size_t documents = 0;
  std::size_t passages = 0;  ///< as many as documents if these are whole
  std::size_t width = 0;     ///< of a vector; 0: there are none
  IndexSettings settings = {};
  PassageSettings cuts = {};
  std::string digest;                        ///< of the content
  std::optional<IndexEncoder> encoder = {};  ///< nothing: the index names no run
  std::string engine;                        ///< "SQLite 3.40.1"
  std::uint64_t bytes = 0;                   ///< of all its files
};

/// Throws UsageError if the folder is missing or not an index.
void require_index(const std::string& folder);
/// Opens an index. Throws like require_index(), and Error if a file is damaged.
DocumentIndex open_index(const std::string& folder);
IndexFacts show_index(const IndexShowRequest& request);

/// What a command did to an index.
struct IndexChange {
  IndexFacts after = {};  ///< empty if `missing` is not 0
  std::size_t added = 0, replaced = 0, removed = 0;
  std::size_t computed = 0;  ///< vectors that the model computed
  std::size_t reused = 0;    ///< vectors of the old index, or kept of an interrupted command
  std::size_t missing = 0;   ///< not 0: the user asked to stop, and the same command resumes
};

/// Builds an index, and replaces one that is in the folder. Throws UsageError if the folder has other files.
IndexChange build_index(const IndexBuildRequest& request, const App& app);
/// Throws UsageError if a document is there already, unless `replace`, or if the run has other weights than
/// those that made the vectors of the index.
IndexChange add_to_index(const IndexAddRequest& request, const App& app);
/// Removes documents; `more` are ids beside those of the request. Throws UsageError if one is not there, or
/// if none would be left.
IndexChange remove_from_index(const IndexRemoveRequest& request, std::vector<std::string> more);

/// A document that was found.
struct NamedHit {
  FusedHit hit;
  std::string id;
  std::string text;  ///< of the passage that was found
};
struct IndexAnswer {
  std::string query;  ///< a text, or the id of a document
  std::vector<NamedHit> hits;
};
struct IndexAnswers {
  std::string digest;
  Fusion fusion;
  std::vector<IndexAnswer> answers;
};
/// Finds the documents for each query. Throws UsageError if there is no query or no document, or if the run
/// has other weights than those that made the vectors of the index.
IndexAnswers query_index(const IndexQueryRequest& request, const std::vector<std::string>& queries,
                         const App& app);
/// Finds for each id of `request.like` the documents that are most like this one, without itself. It needs no
/// model. Throws UsageError if the index has no such document.
IndexAnswers query_like(const IndexQueryRequest& request);

}  // namespace encore::app
