// SPDX-License-Identifier: BSD-3-Clause
// DocumentIndexWriter and DocumentIndex: the files of an index and their digests. An index is a folder with
// index.db (documents and words), vectors.safetensors, vectors.int8.safetensors (both only with vectors) and
// index.json, which is written last and has the digest of the content and that of each file. The content's
// digest does not include the bytes of index.db, because these differ between versions of SQLite. Format 1
// has whole documents, format 2 passages. Read encore/document_index.hpp, row_store.hpp and vector_scan.hpp
// first.
#include <encore/document_index.hpp>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "base/sha256.hpp"
#include "index/row_store.hpp"
#include "index/vector_scan.hpp"
#include "record/safetensors.hpp"
#include "world/atomic_file.hpp"
#include "world/cores.hpp"
#include "world/file_descriptor.hpp"

namespace encore {
namespace index {

/// The content of index.json.
struct IndexDescription {
  std::int64_t format = 1;
  std::string content;                            ///< the digest of the index
  std::map<std::string, std::string> files = {};  ///< SHA-256 by name
};

void list(auto& field, A<IndexDescription> auto& description) {
  field("format", description.format);
  field("content", description.content);
  field("files", description.files);
}

/// Appends bytes to a new file.
class RawFile {
 public:
  explicit RawFile(std::filesystem::path path)
      : path_(std::move(path)), file_(world::open_file(path_, O_WRONLY | O_CREAT | O_EXCL)) {}
  void write(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= buffer_bytes) flush();
  }
  void flush() {
    world::write_all(file_.get(), buffer_, path_);
    buffer_.clear();
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  std::filesystem::path path_;
  world::FileDescriptor file_;
  std::vector<std::byte> buffer_;
};

}  // namespace index

namespace {

namespace fs = std::filesystem;

constexpr const char* description_file = "index.json";
constexpr const char* rows_file = "index.db";
constexpr const char* vectors_file = "vectors.safetensors";
constexpr const char* codes_file = "vectors.int8.safetensors";
constexpr const char* raw_vectors = "vectors.raw";
constexpr const char* raw_codes = "codes.raw";
constexpr std::int64_t document_format = 1, passage_format = 2;

std::string text_of(const index::IndexDescription& description) {
  return to_json_object<nlohmann::ordered_json>(description).dump() + "\n";
}

/// Adds a text to a hash so that the bounds of two in a row are clear.
void add_text(Sha256& hash, std::string_view text) {
  const auto length = static_cast<std::uint64_t>(text.size());
  hash.add(std::as_bytes(std::span(&length, 1)));
  hash.add(text);
}

/// Returns the vector with length 1, in float32.
std::vector<float> with_length_1(std::span<const double> vector) {
  double squares = 0.0;
  for (const double value : vector) {
    if (!std::isfinite(value)) throw Error("a vector has a value that is not a finite number");
    squares += value * value;
  }
  const double length = std::sqrt(squares);
  std::vector<float> result;
  for (const double value : vector) result.push_back(static_cast<float>(length > 0.0 ? value / length : 0.0));
  return result;
}

/// Renames `made` to `folder`. An index that is there is exchanged with it in one step, then removed.
void put_in_place(const fs::path& made, const fs::path& folder) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(made);
    return;
  }
  std::error_code failure;
  fs::remove_all(folder, failure);  // a file system without exchange, or no index is there
  fs::rename(made, folder, failure);
  if (failure) throw Error(world::system_message("write", folder, failure.value()));
}

}  // namespace

// --- writing ---

class DocumentIndexWriter::Files {
 public:
  Files(fs::path folder, const IndexSettings& settings, const PassageSettings& passages)
      : has_passages_(passages.words > 0),
        folder_(std::move(folder)),
        aside_(folder_.string() + std::string(world::aside_suffix)) {
    world::make_folder(folder_.parent_path());
    std::error_code failure;
    fs::remove_all(aside_, failure);  // of a process that was killed
    world::make_folder(aside_);
    rows_.emplace(aside_ / rows_file, settings, passages);
    add_text(hash_, "encore index 1");
    add_text(hash_, settings.stemming ? "stemming" : "");
    add_text(hash_, settings.stop_words ? "stop words" : "");
    if (!has_passages_) return;
    add_text(hash_, "passages");
    add_text(hash_, std::to_string(passages.words));
    add_text(hash_, std::to_string(passages.overlap));
  }
  ~Files() {
    rows_.reset();
    values_.reset();
    codes_.reset();
    std::error_code ignored;
    fs::remove_all(aside_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void add(const IndexedDocument& document, std::span<const double> vector) {
    add_row(document, vector.size());
    if (width_ > 0) add_vector(with_length_1(vector));
  }

  void add_stored(const IndexedDocument& document, std::span<const float> vector) {
    add_row(document, vector.size());
    if (width_ > 0) add_vector(vector);
  }

  void record_encoder(const IndexEncoder& encoder) { rows_->record_encoder(encoder); }

  std::string commit() {
    rows_->finish();
    rows_.reset();
    index::IndexDescription description{.format = has_passages_ ? passage_format : document_format,
                                        .content = hash_.hex()};
    description.files[rows_file] = sha256_of_file(aside_ / rows_file);
    if (width_ > 0) save_vectors(description);
    world::save_file(aside_ / description_file, text_of(description));
    put_in_place(aside_, folder_);
    world::sync_folder(folder_.parent_path().empty() ? "." : folder_.parent_path());
    return description.content;
  }

 private:
  /// Adds the document without its vector, whose width is checked.
  void add_row(const IndexedDocument& document, std::size_t width) {
    ENCORE_REQUIRE(count_ == 0 || document.id > last_id_ || (has_passages_ && document.id == last_id_),
                   "documents are added in the order of their ids");
    if (count_ == 0) start_vectors(width);
    if (width != width_)
      throw Error("document \"" + document.id + "\" has a vector of width " + std::to_string(width) +
                  ": expected " + std::to_string(width_) + ", as the documents before it");
    rows_->add(document);
    add_text(hash_, document.id);
    add_text(hash_, document.text);
    last_id_ = document.id;
    ++count_;
  }

  void start_vectors(std::size_t width) {
    width_ = width;
    if (width > index::most_width)
      throw Error("the vectors have a width of " + std::to_string(width) + ": expected at most " +
                  std::to_string(index::most_width));
    if (width == 0) return;
    values_.emplace(aside_ / raw_vectors);
    codes_.emplace(aside_ / raw_codes);
  }

  void add_vector(std::span<const float> vector) {
    std::vector<std::int8_t> codes(width_);
    const index::RowQuantization row = index::quantize(vector, codes);
    values_->write(std::as_bytes(vector));
    codes_->write(std::as_bytes(std::span(codes)));
    scales_.push_back(row.scale);
    residuals_.push_back(row.residual);
    hash_.add(std::as_bytes(vector));
  }

  void save_vectors(index::IndexDescription& description) {
    values_->flush();
    codes_->flush();
    const std::vector<std::int64_t> rows = {static_cast<std::int64_t>(count_)},
                                    matrix = {rows.front(), static_cast<std::int64_t>(width_)};
    const record::TensorSlice values{
        .name = "vectors", .dtype = DType::float32, .shape = matrix, .file = values_->path()};
    description.files[vectors_file] = record::save_safetensors(aside_ / vectors_file, {values}, {}).sha256;
    const std::vector<record::TensorSlice> coded = {
        {.name = "scales",
         .dtype = DType::float32,
         .shape = rows,
         .bytes = std::as_bytes(std::span(scales_))},
        {.name = "residuals",
         .dtype = DType::float32,
         .shape = rows,
         .bytes = std::as_bytes(std::span(residuals_))},
        {.name = "codes", .dtype = record::StoredType::int8, .shape = matrix, .file = codes_->path()}};
    description.files[codes_file] = record::save_safetensors(aside_ / codes_file, coded, {}).sha256;
    fs::remove(values_->path());
    fs::remove(codes_->path());
  }

  bool has_passages_;
  fs::path folder_, aside_;
  std::optional<index::RowWriter> rows_;
  std::optional<index::RawFile> values_, codes_;
  std::vector<float> scales_, residuals_;
  Sha256 hash_;
  std::string last_id_;
  std::size_t count_ = 0, width_ = 0;
};

DocumentIndexWriter::DocumentIndexWriter(fs::path folder, const IndexSettings& settings)
    : DocumentIndexWriter(std::move(folder), settings, PassageSettings()) {}

DocumentIndexWriter::DocumentIndexWriter(fs::path folder, const IndexSettings& settings,
                                         const PassageSettings& passages)
    : files_(std::make_unique<Files>(std::move(folder), settings, passages)) {}

DocumentIndexWriter::~DocumentIndexWriter() = default;

void DocumentIndexWriter::add(const IndexedDocument& document, std::span<const double> vector) {
  files_->add(document, vector);
}

void DocumentIndexWriter::add_stored(const IndexedDocument& document, std::span<const float> vector) {
  files_->add_stored(document, vector);
}

void DocumentIndexWriter::record_encoder(const IndexEncoder& encoder) {
  files_->record_encoder(encoder);
}

std::string DocumentIndexWriter::commit() {
  return files_->commit();
}

// --- reading ---

namespace {

/// Reads index.json and compares the files with it.
index::IndexDescription checked_description(const fs::path& folder) {
  const fs::path file = folder / description_file;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw Error(folder.string() + " has no index: " + description_file +
                " is missing; build the index again");
  const std::string text = load_text(file, "description of an index");
  index::IndexDescription description;
  try {
    description = from_json_object<index::IndexDescription>(parse_json(text));
  } catch (const Error& error) {
    throw Error(file.string() + " is damaged: " + error.what() + "; build the index again");
  }
  if (description.format != document_format && description.format != passage_format)
    throw Error(file.string() + ": expected format 1 or 2, found " + std::to_string(description.format) +
                "; build the index again");
  if (text != text_of(description) || !description.files.contains(rows_file))
    throw Error(file.string() + " is damaged; build the index again");
  for (const auto& [name, digest] : description.files) {
    if (name != rows_file && name != vectors_file && name != codes_file)
      throw Error(file.string() + " is damaged: it names the file \"" + name + "\"");
    if (sha256_of_file(folder / name) != digest)
      throw Error((folder / name).string() +
                  " is damaged: it is not the file that was written; build the index again");
  }
  return description;
}

template <class T>
std::span<const T> values_in(const record::Safetensors::Entry& entry) {
  return {reinterpret_cast<const T*>(entry.bytes.data()), entry.bytes.size() / sizeof(T)};
}

std::vector<std::int64_t> shape_of_vectors(const fs::path& file) {
  const record::Safetensors checked(file);
  const std::vector<std::int64_t> shape = checked.tensor("vectors").shape;
  checked.tensor("vectors", DType::float32, shape);
  if (checked.tensors().size() != 1) throw Error(file.string() + " is damaged: expected one tensor");
  return shape;
}

/// Returns a function that reads a row of the only tensor of a file, which stands at its end.
std::function<void(std::size_t, std::span<float>)> row_reader(int descriptor, const fs::path& file,
                                                              const std::vector<std::int64_t>& shape) {
  const auto row_bytes = static_cast<std::size_t>(shape[1]) * sizeof(float);
  const std::size_t first = fs::file_size(file) - static_cast<std::size_t>(shape[0]) * row_bytes;
  return [descriptor, file, row_bytes, first](std::size_t row, std::span<float> values) {
    const auto place = static_cast<off_t>(first + row * row_bytes);
    if (::pread(descriptor, values.data(), row_bytes, place) != static_cast<ssize_t>(row_bytes))
      throw Error(world::system_message("read", file, errno));
  };
}

}  // namespace

struct DocumentIndex::Parts {
  Parts(std::string of_content, const fs::path& folder)
      : digest(std::move(of_content)), rows(folder / rows_file) {}

  /// Replaces the passages of hits by their documents.
  std::vector<IndexHit> documents_of(std::vector<IndexHit> hits) const {
    for (IndexHit& hit : hits) hit.position = rows.document_of(hit.position);
    return hits;
  }
  std::vector<IndexHit> nearest_passages(std::span<const double> vector, std::size_t depth) const;

  std::string digest;
  index::RowStore rows;
  std::optional<record::Safetensors> codes = {};
  world::FileDescriptor values = {};  ///< of the file with the float32 vectors
  index::ScannedVectors vectors = {};
  int threads = 1;
};

DocumentIndex::DocumentIndex(const fs::path& folder) {
  const index::IndexDescription description = checked_description(folder);
  parts_ = std::make_unique<Parts>(description.content, folder);
  if (parts_->rows.has_passages() != (description.format == passage_format))
    throw Error(folder.string() + " is damaged: its files have different formats; build the index again");
  if (!description.files.contains(vectors_file)) return;
  record::Safetensors& codes = parts_->codes.emplace(folder / codes_file);
  const std::vector<std::int64_t> shape = shape_of_vectors(folder / vectors_file);
  const auto rows = static_cast<std::int64_t>(parts_->rows.passage_count());
  if (shape.size() != 2 || shape[0] != rows || shape[1] < 1 ||
      static_cast<std::size_t>(shape[1]) > index::most_width || codes.tensor("codes").shape != shape ||
      codes.tensor("codes").dtype != record::StoredType(record::StoredType::int8))
    throw Error(folder.string() + " is damaged: its vectors are not those of its " + std::to_string(rows) +
                (parts_->rows.has_passages() ? " passages" : " documents") + "; build the index again");
  parts_->values = world::open_file(folder / vectors_file, O_RDONLY);
  parts_->vectors = {.width = static_cast<std::size_t>(shape[1]),
                     .codes = values_in<std::int8_t>(codes.tensor("codes")),
                     .scales = values_in<float>(codes.tensor("scales", DType::float32, {rows})),
                     .residuals = values_in<float>(codes.tensor("residuals", DType::float32, {rows})),
                     .documents = parts_->rows.documents(),
                     .read_row = row_reader(parts_->values.get(), folder / vectors_file, shape)};
  parts_->threads = world::default_threads(world::usable_cores(), world::openmp_wishes());
}

DocumentIndex::~DocumentIndex() = default;
DocumentIndex::DocumentIndex(DocumentIndex&&) noexcept = default;
DocumentIndex& DocumentIndex::operator=(DocumentIndex&&) noexcept = default;

std::size_t DocumentIndex::size() const {
  return parts_->rows.size();
}

std::size_t DocumentIndex::width() const {
  return parts_->vectors.width;
}

const IndexSettings& DocumentIndex::settings() const {
  return parts_->rows.settings();
}

const std::string& DocumentIndex::digest() const {
  return parts_->digest;
}

const PassageSettings& DocumentIndex::passages() const {
  return parts_->rows.passages();
}

std::size_t DocumentIndex::passage_count() const {
  return parts_->rows.passage_count();
}

std::size_t DocumentIndex::first_passage(std::size_t position) const {
  ENCORE_REQUIRE(position <= size(), "the index has the document");
  return parts_->rows.first_passage(position);
}

std::optional<IndexEncoder> DocumentIndex::encoder() const {
  return parts_->rows.encoder();
}

std::string DocumentIndex::engine() const {
  return "SQLite " + parts_->rows.sqlite_version();
}

std::string DocumentIndex::id(std::size_t position) const {
  return parts_->rows.id(position);
}

std::string DocumentIndex::text(std::size_t position) const {
  return parts_->rows.text(first_passage(position));
}

std::string DocumentIndex::passage_text(std::size_t passage) const {
  return parts_->rows.text(passage);
}

std::vector<float> DocumentIndex::vector(std::size_t passage) const {
  ENCORE_REQUIRE(passage < passage_count(), "the index has the passage");
  std::vector<float> values(width());
  if (!values.empty()) parts_->vectors.read_row(passage, values);
  return values;
}

std::vector<IndexHit> DocumentIndex::find_words(std::string_view query, std::size_t depth) const {
  return parts_->documents_of(parts_->rows.find(query, depth));
}

std::vector<IndexHit> DocumentIndex::find_nearest(std::span<const double> vector, std::size_t depth) const {
  return parts_->documents_of(parts_->nearest_passages(vector, depth));
}

/// Returns the best passages of the nearest `depth` documents.
std::vector<IndexHit> DocumentIndex::Parts::nearest_passages(std::span<const double> vector,
                                                             std::size_t depth) const {
  if (vectors.width == 0) throw Error("the index has no vectors: build it with a model that gives them");
  if (vector.size() != vectors.width)
    throw Error("the vector of the query has " + std::to_string(vector.size()) + " values: expected " +
                std::to_string(vectors.width) + "; use the model with which the index was built");
  return index::find_nearest_rows(vectors, with_length_1(vector), depth, threads);
}

std::vector<FusedHit> DocumentIndex::find(std::string_view query, std::span<const double> vector,
                                          const Fusion& fusion, std::size_t depth, std::size_t count) const {
  if (trimmed(query).empty()) return {};
  std::vector<IndexHit> words, vectors;  // passages
  if (fusion.uses_words()) words = parts_->rows.find(query, depth);
  if (fusion.uses_vectors()) vectors = parts_->nearest_passages(vector, depth);
  std::vector<FusedHit> hits =
      fuse(parts_->documents_of(words), parts_->documents_of(vectors), fusion, count);
  for (FusedHit& hit : hits) {
    const bool by_vector = hit.vector_rank > 0 && (hit.word_rank == 0 || hit.vector_rank < hit.word_rank);
    hit.passage = by_vector ? vectors[hit.vector_rank - 1].position : words[hit.word_rank - 1].position;
  }
  return hits;
}

}  // namespace encore
