// SPDX-License-Identifier: BSD-3-Clause
// DocumentIndex: a folder with documents that is searched by words (BM25) and by vectors, exactly. Steps of
// applications (plugins/steps/search) and `exp index` call it; framework/index implements it as
// libencore_index.so, which a plugin links as encore::index. The files of an index are read by later
// versions, so their format changes only with a new number, and equal documents must give an equal digest.
// Plugins that were built before load this library, so declarations may be added but none may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

/// How documents are cut into passages, which are searched in place of whole documents. A word is what stands
/// between white space. Words are counted, not tokens of a model, because an index that is searched by words
/// alone has no model.
struct PassageSettings {
  std::size_t words = 0;    ///< a passage has at most this number of words; 0: documents stay whole
  std::size_t overlap = 0;  ///< consecutive passages share whole sentences of at most this number of words

  friend bool operator==(const PassageSettings&, const PassageSettings&) = default;
};

/// Reads documents like load_documents(), and cuts those with more words than a passage may have. Returns the
/// passages in the order of ids and of the text; those of one document have its id. A cut stands at the end
/// of a sentence, or between words in a sentence that is too long. The title stands in front of each passage
/// of its document, and its words do not count. Throws like load_documents().
std::vector<IndexedDocument> load_passages(const std::filesystem::path& file,
                                           const PassageSettings& settings);

/// Returns an error message if the settings contradict each other: an overlap that is not below the words; ""
/// otherwise. `words` and `overlap` are the names of the options in the message.
inline std::string passage_problem(const PassageSettings& settings, const std::string& words,
                                   const std::string& overlap) {
  if (settings.overlap == 0 || settings.overlap < settings.words) return "";
  const std::string invalid = "invalid " + overlap + " " + std::to_string(settings.overlap);
  if (settings.words == 0) return invalid + ": documents are not cut; also set " + words;
  return invalid + ": expected less than " + words + " " + std::to_string(settings.words);
}

/// How words are compared. Both settings are part of the index and of its digest.
struct IndexSettings {
  bool stemming = false;    ///< words of one stem are equal, by Porter's algorithm for English
  bool stop_words = false;  ///< frequent English words of a query are ignored

  friend bool operator==(const IndexSettings&, const IndexSettings&) = default;
};

/// The model that made the vectors of an index. It is recorded in the index and does not count in its digest.
struct IndexEncoder {
  std::string run;      ///< name of the run
  std::string weights;  ///< digest of the weights of the run

  friend bool operator==(const IndexEncoder&, const IndexEncoder&) = default;
};

/// A document that was found, by its place in the order of ids.
struct IndexHit {
  std::size_t position = 0;
  double score = 0.0;

  friend bool operator==(const IndexHit&, const IndexHit&) = default;
};

/// How one ranking is made of the documents that were found by words and by vectors. words: BM25 alone;
/// vectors: cosines alone; ranks: the sum of 1 / (60 + rank) over both (reciprocal rank fusion, Cormack et
/// al. 2009); weighted: the weighted sum of both scores, each scaled so that the best hit of its part has 1
/// and the last one 0.
enum class SearchMethod : std::uint8_t { words, vectors, ranks, weighted };

/// Returns the name in options and in stored knowledge.
const char* name_of(SearchMethod method);
/// Returns nothing for another text.
std::optional<SearchMethod> search_method_named(std::string_view name);

struct Fusion {
  SearchMethod method = SearchMethod::words;
  double weight = 0.5;  ///< of the vectors, in [0, 1]; only `weighted` uses it

  bool uses_words() const { return method != SearchMethod::vectors; }
  bool uses_vectors() const { return method != SearchMethod::words; }
  friend bool operator==(const Fusion&, const Fusion&) = default;
};

/// A document with its place in each part.
struct FusedHit {
  std::size_t position = 0;
  std::size_t passage = 0;  ///< the passage that was found, set by DocumentIndex::find()
  double score = 0.0;
  std::size_t word_rank = 0, vector_rank = 0;   ///< from 1; 0: the part did not find it
  double word_score = 0.0, vector_score = 0.0;  ///< 0 if the part did not find it
};

/// Returns the best `depth` documents of both parts by falling score; equal scores are in the order of
/// falling positions, which is that of falling ids. Each part is in the order of falling scores. A part that
/// the method does not use is not read. Answers of stored runs follow from the formulas, so a change needs a
/// new version of the step `search`.
std::vector<FusedHit> fuse(std::span<const IndexHit> words, std::span<const IndexHit> vectors,
                           const Fusion& fusion, std::size_t depth);

/// Writes an index. The files are written in the folder FOLDER.part, which is renamed at the end: a process
/// that is killed leaves no half index. Only one process may write to a folder at a time. Not for use by
/// several threads at once.
class DocumentIndexWriter {
 public:
  /// `folder` need not exist; its parent folders are made. Throws Error if they cannot be written.
  DocumentIndexWriter(std::filesystem::path folder, const IndexSettings& settings);
  /// Writes an index of passages, unless `passages.words` is 0.
  DocumentIndexWriter(std::filesystem::path folder, const IndexSettings& settings,
                      const PassageSettings& passages);
  /// Removes what was written unless commit() was called.
  ~DocumentIndexWriter();
  DocumentIndexWriter(const DocumentIndexWriter&) = delete;
  DocumentIndexWriter& operator=(const DocumentIndexWriter&) = delete;

  /// Adds a document. Its id is greater (by bytes) than that of the one before it. In an index of passages it
  /// may be equal, and then this is the next passage of the document. Either all documents have vectors, of
  /// equal width, or none has. A vector is stored with length 1, so scores are cosines; a vector of zeros
  /// stays. Throws Error for a number that is not finite, another width, or a full disk.
  void add(const IndexedDocument& document, std::span<const double> vector = {});

  /// Adds a document with a vector that DocumentIndex::vector() returned. It is stored as it is: its length
  /// is 1 but for rounding, and dividing by this length again would change bits, and so the digest.
  void add_stored(const IndexedDocument& document, std::span<const float> vector);

  /// Records which model made the vectors. Called at most once, before commit().
  void record_encoder(const IndexEncoder& encoder);

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
  const PassageSettings& passages() const;
  /// Returns the number of passages. They are numbered in the order of ids and of the text. If documents are
  /// whole, each is one passage.
  std::size_t passage_count() const;
  /// Returns the number of the first passage of a document. The next document begins behind its last one.
  std::size_t first_passage(std::size_t position) const;
  /// Returns the SHA-256 of settings, documents and vectors. It depends neither on the order in which files
  /// named the documents nor on the version of SQLite.
  const std::string& digest() const;
  /// Returns nothing if the writer recorded no model.
  std::optional<IndexEncoder> encoder() const;
  /// Returns the program that wrote index.db: "SQLite 3.40.1".
  std::string engine() const;
  std::string id(std::size_t position) const;
  /// Returns the text of a document; of one that is cut, that of its first passage.
  std::string text(std::size_t position) const;
  std::string passage_text(std::size_t passage) const;
  /// Returns the stored vector of a passage, `width()` values.
  std::vector<float> vector(std::size_t passage) const;

  /// Returns the documents with words of the query: the best `depth` by BM25 (k1 = 1.2, b = 0.75), by falling
  /// score. Equal scores are in the order of falling ids. A word counts once, however often the query has
  /// it, and of a longer query the first 256 words count. All characters of the query are plain text. In an
  /// index of passages BM25 is computed over passages, and the score of a document is that of its best one,
  /// so `depth` counts documents.
  std::vector<IndexHit> find_words(std::string_view query, std::size_t depth) const;

  /// Returns the `depth` documents (or all, if there are fewer) whose vectors have the largest cosine with
  /// the vector of the query. Equal scores are in the order of falling ids. Neither the documents nor the
  /// bits of the scores depend on the number of threads. The score of a document with several passages is
  /// that of its best one, also exactly. Throws Error if the vector has another width than the index.
  std::vector<IndexHit> find_nearest(std::span<const double> vector, std::size_t depth) const;

  /// Returns the best `count` documents for a query: finds up to `depth` by each part that the method uses,
  /// and joins them by fuse(). A blank query finds nothing. `vector` is that of the query; it is not read if
  /// the method uses no vectors. The passage of a hit is the best one by the part that ranks the document
  /// higher, and by words if both ranks are equal. Of passages with equal scores, the last one of the
  /// document counts.
  std::vector<FusedHit> find(std::string_view query, std::span<const double> vector, const Fusion& fusion,
                             std::size_t depth, std::size_t count) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns the program that finds words, with its version: "SQLite 3.40.1".
std::string index_engine();

}  // namespace encore
