// SPDX-License-Identifier: BSD-3-Clause
// Finds documents in an index, and describes one. The ranking is that of the step `search`, because both call
// DocumentIndex::find(); a test compares their answers. Read index.hpp first.
#include <encore/lines.hpp>

#include "app/index.hpp"
#include "app/index_folder.hpp"
#include "app/text_encoder.hpp"
#include "base/readable_text.hpp"
#include "base/utf8.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Words beyond the 256th different one do not count (encore/document_index.hpp).
constexpr std::size_t counted_words = 256;

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

std::size_t count_words(const std::string& text) {
  std::size_t words = 0;
  bool inside = false;
  for (const char letter : text) {
    const bool is_blank = static_cast<unsigned char>(letter) <= ' ';
    words += !is_blank && !inside ? 1 : 0;
    inside = !is_blank;
  }
  return words;
}

Fusion fusion_of(const IndexQueryRequest& request, const DocumentIndex& index) {
  const std::string usual = index.width() > 0 ? "ranks" : "words";
  const Fusion fusion{.method = search_method_named(request.method.value_or(usual)).value(),
                      .weight = request.weight.value_or(Fusion().weight)};
  if (fusion.uses_vectors() && index.width() == 0)
    throw UsageError(request.folder + " has no vectors, so --method " + name_of(fusion.method) +
                     " cannot be used: build the index again with --model, or use --method words");
  return fusion;
}

void check_queries(const std::vector<std::string>& queries, const App& app) {
  if (queries.empty()) throw UsageError("there is no query; give one, or a line of standard input for each");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::string name = queries.size() > 1 ? "query " + std::to_string(i + 1) : "the query";
    if (is_blank(queries[i])) throw UsageError(name + " is empty: expected words");
    if (find_invalid_utf8(queries[i])) throw UsageError(name + " is not UTF-8: expected whole characters");
    if (const std::size_t words = count_words(queries[i]); words > counted_words)
      app.events.noticed(name + " has " + thousands(static_cast<std::int64_t>(words)) + " words; " +
                         std::to_string(counted_words) +
                         " different ones count in a search by words, and a model reads its first tokens");
  }
}

/// Returns the position of a document. The ids of an index are sorted by bytes.
std::size_t position_of(const DocumentIndex& index, const std::string& id, const std::string& folder) {
  std::size_t first = 0, last = index.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (index.id(middle) < id)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == index.size() || index.id(first) != id)
    throw UsageError(folder + " has no document \"" + id + "\": expected an id of one of its documents");
  return first;
}

NamedHit named(const DocumentIndex& index, const FusedHit& hit) {
  return {.hit = hit, .id = index.id(hit.position), .text = index.passage_text(hit.passage)};
}

}  // namespace

void require_index(const std::string& folder) {
  const fs::path path = index_path(folder);
  std::error_code missing;
  if (!fs::exists(path, missing))
    throw UsageError("there is no index " + folder + ": make it with exp index build " + folder +
                     " --documents FILE");
  if (!fs::is_directory(path, missing) || !fs::exists(path / "index.json", missing))
    throw UsageError(folder +
                     " is not an index (index.json is missing): expected a folder that exp index build "
                     "has made");
}

DocumentIndex open_index(const std::string& folder) {
  require_index(folder);
  return DocumentIndex(index_path(folder));
}

IndexFacts show_index(const IndexShowRequest& request) {
  const DocumentIndex index = open_index(request.folder);
  return {.folder = request.folder,
          .documents = index.size(),
          .passages = index.passage_count(),
          .width = index.width(),
          .settings = index.settings(),
          .cuts = index.passages(),
          .digest = index.digest(),
          .encoder = index.encoder(),
          .engine = index.engine(),
          .bytes = bytes_in(index_path(request.folder))};
}

IndexAnswers query_index(const IndexQueryRequest& request, const std::vector<std::string>& queries,
                         const App& app) {
  const DocumentIndex index = open_index(request.folder);
  check_queries(queries, app);
  if (index.size() == 0)
    throw UsageError(request.folder + " has no documents: add some with exp index add " + request.folder +
                     " FILE");
  IndexAnswers result{.digest = index.digest(), .fusion = fusion_of(request, index), .answers = {}};
  std::vector<std::vector<float>> vectors(queries.size());
  if (result.fusion.uses_vectors()) {
    const EncoderRun encoder =
        encoder_of_index(app, request.folder, index, request.model, request.model_options);
    vectors = encode_texts(app, app.events, encoder, request.model_options, queries);
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    IndexAnswer& answer = result.answers.emplace_back(IndexAnswer{.query = queries[i], .hits = {}});
    const std::vector<double> vector(vectors[i].begin(), vectors[i].end());
    for (const FusedHit& hit :
         index.find(queries[i], vector, result.fusion, static_cast<std::size_t>(request.depth),
                    static_cast<std::size_t>(request.count)))
      answer.hits.push_back(named(index, hit));
  }
  return result;
}

IndexAnswers query_like(const IndexQueryRequest& request) {
  const DocumentIndex index = open_index(request.folder);
  IndexAnswers result{.digest = index.digest(), .fusion = fusion_of(request, index), .answers = {}};
  for (const std::string& id : request.like) {
    const std::size_t own = position_of(index, id, request.folder);
    std::vector<float> stored;
    if (result.fusion.uses_vectors()) stored = index.vector(index.first_passage(own));
    const std::vector<double> vector(stored.begin(), stored.end());
    // Both parts find the document itself, so each is asked for one more.
    const std::vector<FusedHit> hits =
        index.find(index.text(own), vector, result.fusion, static_cast<std::size_t>(request.depth) + 1,
                   static_cast<std::size_t>(request.count) + 1);
    IndexAnswer& answer = result.answers.emplace_back(IndexAnswer{.query = id, .hits = {}});
    for (const FusedHit& hit : hits)
      if (hit.position != own && answer.hits.size() < static_cast<std::size_t>(request.count))
        answer.hits.push_back(named(index, hit));
  }
  return result;
}

}  // namespace encore::app
