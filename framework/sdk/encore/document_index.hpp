// SPDX-License-Identifier: BSD-3-Clause
// DocumentIndex: a folder with documents that is searched by words (BM25) and by vectors, exactly. Steps of
// applications call it (plugins/steps/search); framework/index implements it as libencore_index.so, which a
// plugin links as encore::index. The files of an index are read by later versions, so their format changes
// only with a new number, and equal documents must give an equal digest.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/error.hpp>

namespace encore {

struct IndexedDocument {
  std::string id;
  std::string text;

  friend bool operator==(const IndexedDocument&, const IndexedDocument&) = default;
};

/// Reads documents from a file. A file whose name ends with .jsonl has one JSON object in each line, with the
/// members "id", "text" and, if there is one, "title", which then is the first line of the text. Any other
/// file has lines of id, tab, text. Returns the documents sorted by id (by bytes). Throws Error with file and
/// line for an invalid line, an id that stands twice, and a file without documents.
std::vector<IndexedDocument> load_documents(const std::filesystem::path& file);

/// How words are compared. Both settings are part of the index and of its digest.
struct IndexSettings {
  bool stemming = false;    ///< words of one stem are equal, by Porter's algorithm for English
  bool stop_words = false;  ///< frequent English words of a query are ignored

  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};

/// A document that was found, by its place in the order of ids.
struct IndexHit {
  std::size_t position = 0;
  double score = 0.0;

  friend bool operator==(const IndexHit&, const IndexHit&) = default;
};

/// Writes an index. The files are written in the folder FOLDER.part, which is renamed at the end: a process
/// that is killed leaves no half index. Only one process may write to a folder at a time. Not for use by
/// several threads at once.
class DocumentIndexWriter {
 public:
  /// `folder` need not exist; its parent folders are made. Throws Error if they cannot be written.
  DocumentIndexWriter(std::filesystem::path folder, const IndexSettings& settings);
  /// Removes what was written unless commit() was called.
  ~DocumentIndexWriter();
  DocumentIndexWriter(const DocumentIndexWriter&) = delete;
  DocumentIndexWriter& operator=(const DocumentIndexWriter&) = delete;

  /// Adds a document. Its id is greater (by bytes) than that of the one before it. Either all documents have
  /// vectors, of equal width, or none has. A vector is stored with length 1, so scores are cosines; a vector
  /// of zeros stays. Throws Error for a number that is not finite, another width, or a full disk.
  void add(const IndexedDocument& document, std::span<const double> vector = {});

  /// Completes the index and puts it in place of the one in the folder, if there is one. Returns its digest.
  std::string commit();

 private:
  class Files;
  std::unique_ptr<Files> files_;
};

/// An index that is open for reading. The 8-bit copies of its vectors are mapped; of the vectors themselves
/// only the rows that a query needs are read. Not for use by several threads at once.
class DocumentIndex {
 public:
  /// Compares the files with the digests that were recorded when they were written, which reads all of them.
  /// Throws Error if the folder has no index, or one that is damaged.
  explicit DocumentIndex(const std::filesystem::path& folder);
  ~DocumentIndex();
  DocumentIndex(DocumentIndex&&) noexcept;
  DocumentIndex& operator=(DocumentIndex&&) noexcept;

  /// Returns the number of documents. They are numbered by their place in the order of ids.
  std::size_t size() const;
  /// Returns the width of the vectors; 0: the documents have none.
  std::size_t width() const;
  const IndexSettings& settings() const;
  /// Returns the SHA-256 of settings, documents and vectors. It depends neither on the order in which files
  /// named the documents nor on the version of SQLite.
  const std::string& digest() const;
  std::string id(std::size_t position) const;
  std::string text(std::size_t position) const;

  /// Returns the documents with words of the query: the best `depth` by BM25 (k1 = 1.2, b = 0.75), by falling
  /// score. Equal scores are in the order of falling ids. A word counts once, however often the query has
  /// it, and of a longer query the first 256 words count. All characters of the query are plain text.
  std::vector<IndexHit> find_words(std::string_view query, std::size_t depth) const;

  /// Returns the `depth` documents (or all, if there are fewer) whose vectors have the largest cosine with
  /// the vector of the query. Equal scores are in the order of falling ids. Neither the documents nor the
  /// bits of the scores depend on the number of threads. Throws Error if the vector has another width than
  /// the index.
  std::vector<IndexHit> find_nearest(std::span<const double> vector, std::size_t depth) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns the program that finds words, with its version: "SQLite 3.40.1".
std::string index_engine();

}  // namespace encore
