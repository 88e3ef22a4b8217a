// SPDX-License-Identifier: BSD-3-Clause
// Builds an index, and adds and removes documents. All three make the list of documents of the new index,
// each with its vector in the old one if that has it, compute the vectors that are missing, and write a whole
// new index. So its digest does not depend on the commands that led to it. Read index.hpp first.
#include "app/index.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "app/index_folder.hpp"
#include "app/text_encoder.hpp"
#include "base/readable_text.hpp"

namespace encore::app {

namespace {

/// A document of the new index, or a passage of one.
struct IndexRow {
  IndexedDocument document;
  std::optional<std::size_t> stored = {};  ///< the passage of the old index whose vector it takes
};

/// An index to write.
struct NewIndex {
  IndexSettings settings = {};
  PassageSettings passages = {};
  std::vector<IndexRow> rows = {};  ///< in the order of ids and passages
  const DocumentIndex* old = nullptr;
  std::optional<IndexEncoder> recorded = {};  ///< which model the vectors are from
  std::optional<EncoderRun> encoder = {};     ///< which model computes vectors that are missing
};

/// Returns at most three names of a list: `"a", "b", "c" and 7 others`.
std::string some_of(const std::vector<std::string>& ids) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, ids.size()); ++i)
    text += (i > 0 ? ", \"" : "\"") + ids[i] + "\"";
  if (ids.size() > shown) text += " and " + counted(ids.size() - shown, "other");
  return text;
}

/// The positions of documents by id.
using Positions = std::map<std::string, std::size_t>;

Positions positions_in(const DocumentIndex& index) {
  Positions positions;
  for (std::size_t i = 0; i < index.size(); ++i) positions.emplace_hint(positions.end(), index.id(i), i);
  return positions;
}

/// Returns the rows of new passages. A passage takes the vector of an equal one of the same document, if
/// `known` has the document.
std::vector<IndexRow> new_rows(std::vector<IndexedDocument> passages, const DocumentIndex* old,
                               const Positions& known) {
  std::vector<IndexRow> rows;
  for (IndexedDocument& passage : passages) {
    IndexRow row{.document = std::move(passage)};
    const auto found = known.find(row.document.id);
    if (found != known.end())
      for (std::size_t i = old->first_passage(found->second);
           i < old->first_passage(found->second + 1) && !row.stored; ++i)
        if (old->passage_text(i) == row.document.text) row.stored = i;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Adds the documents of the old index that stay. Rows are in the order of ids again.
void keep_rows(NewIndex& made, const Positions& positions) {
  for (const auto& [id, position] : positions)
    for (std::size_t i = made.old->first_passage(position); i < made.old->first_passage(position + 1); ++i)
      made.rows.push_back({.document = {.id = id, .text = made.old->passage_text(i)}, .stored = i});
  // Stable, because passages of one document have equal ids.
  std::ranges::stable_sort(made.rows, {},
                           [](const IndexRow& row) -> const std::string& { return row.document.id; });
}

/// Returns the ids of passages, each once.
std::vector<std::string> ids_of(const std::vector<IndexedDocument>& passages) {
  std::vector<std::string> ids;
  for (const IndexedDocument& passage : passages)
    if (ids.empty() || ids.back() != passage.id) ids.push_back(passage.id);
  return ids;
}

/// Writes the rows with their vectors. All vectors are in the old index or kept.
void write_rows(DocumentIndexWriter& writer, const NewIndex& made, std::size_t width,
                const std::optional<KeptVectors>& kept) {
  const std::vector<double> zeros(width, 0.0);
  for (const IndexRow& row : made.rows) {
    if (row.stored) {
      writer.add_stored(row.document, made.old->vector(*row.stored));
    } else if (width == 0 || is_blank(row.document.text)) {
      writer.add(row.document, zeros);
    } else {
      const std::vector<float> vector = kept.value().vector_of(row.document.text);
      writer.add(row.document, std::vector<double>(vector.begin(), vector.end()));
    }
  }
}

/// Computes the missing vectors and writes the index, unless the user asks to stop.
IndexChange write_index(const std::string& written, const IndexFolder& folder, const NewIndex& made,
                        const ModelRequest& model, const App* app) {
  IndexChange change;
  std::optional<KeptVectors> kept;
  const auto stored = static_cast<std::size_t>(
      std::ranges::count_if(made.rows, [](const IndexRow& row) { return row.stored.has_value(); }));
  std::size_t width = stored > 0 ? made.old->width() : 0;
  std::vector<const std::string*> texts;  // whose vectors are not in the old index
  if (made.encoder) {
    for (const IndexRow& row : made.rows)
      if (!row.stored && !is_blank(row.document.text)) texts.push_back(&row.document.text);
    kept.emplace(folder.kept_vectors(), made.encoder->identity);
    const EncodedTexts encoded = missing_vectors(*app, *made.encoder, model, texts, *kept);
    change.computed = encoded.computed;
    change.missing = encoded.missing;
    if (change.missing > 0) return change;
    if (kept->width() > 0) width = kept->width();
  }
  {
    DocumentIndexWriter writer(folder.path(), made.settings, made.passages);
    write_rows(writer, made, width, kept);
    if (made.recorded && width > 0) writer.record_encoder(*made.recorded);
    writer.commit();
  }
  if (kept) kept->remove();
  change.after = show_index({.folder = written});
  if (width > 0) change.reused = stored + texts.size() - change.computed;
  return change;
}

}  // namespace

IndexChange build_index(const IndexBuildRequest& request, const App& app) {
  NewIndex made{.settings = {.stemming = request.stemming, .stop_words = request.stop_words},
                .passages = {.words = static_cast<std::size_t>(request.passage_words),
                             .overlap = static_cast<std::size_t>(request.overlap_words)}};
  std::vector<IndexedDocument> documents = load_passages(request.documents, made.passages);
  const std::size_t count = ids_of(documents).size();
  const IndexFolder folder(request.folder);
  folder.require_replaceable();
  if (request.model) {
    made.encoder = find_encoder(app, *request.model, request.model_options);
    made.recorded = made.encoder->identity;
  }
  std::optional<DocumentIndex> old;
  Positions known;
  if (made.encoder && folder.has_index()) {
    try {
      old.emplace(folder.path());
      made.old = &*old;
      if (old->encoder() && old->encoder()->weights == made.encoder->identity.weights)
        known = positions_in(*old);
    } catch (const Error&) {
      known.clear();  // A damaged index is replaced like any other, and its vectors are computed again.
    }
  }
  made.rows = new_rows(std::move(documents), made.old, known);
  IndexChange change = write_index(request.folder, folder, made, request.model_options, &app);
  change.added = count;
  return change;
}

IndexChange add_to_index(const IndexAddRequest& request, const App& app) {
  require_index(request.folder);
  const IndexFolder folder(request.folder);
  const DocumentIndex old = open_index(request.folder);
  std::vector<IndexedDocument> documents = load_passages(request.documents, old.passages());
  const std::vector<std::string> ids = ids_of(documents);
  Positions known = positions_in(old);
  std::vector<std::string> there;
  std::ranges::copy_if(ids, std::back_inserter(there), [&](const auto& id) { return known.contains(id); });
  if (!request.replace && !there.empty())
    throw UsageError(request.folder + " already has " + some_of(there) + " of " + request.documents +
                     ": expected new ids; --replace replaces the documents that are there");
  NewIndex made{
      .settings = old.settings(), .passages = old.passages(), .old = &old, .recorded = old.encoder()};
  if (old.width() > 0)
    made.encoder = encoder_of_index(app, request.folder, old, request.model, request.model_options);
  else if (request.model)
    throw UsageError(request.folder +
                     " has no vectors, so --model has no use: build the index again with --model");
  made.rows = new_rows(std::move(documents), &old, known);
  for (const std::string& id : there) known.erase(id);
  keep_rows(made, known);
  IndexChange change = write_index(request.folder, folder, made, request.model_options, &app);
  change.replaced = there.size();
  change.added = ids.size() - there.size();
  return change;
}

IndexChange remove_from_index(const IndexRemoveRequest& request, std::vector<std::string> more) {
  require_index(request.folder);
  const IndexFolder folder(request.folder);
  const DocumentIndex old = open_index(request.folder);
  Positions known = positions_in(old);
  more.insert(more.end(), request.ids.begin(), request.ids.end());
  const std::set<std::string> wanted(more.begin(), more.end());
  std::vector<std::string> missing;
  for (const std::string& id : wanted)
    if (known.erase(id) == 0) missing.push_back(id);
  if (!missing.empty())
    throw UsageError(request.folder + " has no document " + some_of(missing) + ": expected ids of its " +
                     counted(old.size(), "document") + "; nothing was removed");
  if (known.empty())
    throw UsageError(request.folder + " would have no document left: remove the folder instead");
  NewIndex made{
      .settings = old.settings(), .passages = old.passages(), .old = &old, .recorded = old.encoder()};
  keep_rows(made, known);
  IndexChange change = write_index(request.folder, folder, made, {}, nullptr);
  change.removed = wanted.size();
  return change;
}

}  // namespace encore::app
