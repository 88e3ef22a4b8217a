// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work for data that the programs exchange and for foreign weights and bundles: spools
// (record/spool_reader.hpp), headers of safetensors, token lists of SentencePiece, and archives
// (archive/unpack_bundle.hpp). It calls expect_linear() of linear.hpp.
#include <cstring>
#include <span>

#include "archive/bundle_index.hpp"
#include "archive/tar.hpp"
#include "archive/unpack_bundle.hpp"
#include "archive/zstd_file.hpp"
#include "base/crc32.hpp"
#include "base/sha256.hpp"
#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "data/vocabulary.hpp"
#include "record/events.hpp"
#include "record/safetensors_header.hpp"
#include "record/spool_reader.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::bounds {
namespace {

using testing::TemporaryFolder;
using testing::write_bytes;

template <class T>
std::string bytes_of_number(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::uint32_t sum_of(const std::string& bytes) {
  return crc32(std::as_bytes(std::span(bytes)));
}

// --- spools ---

std::string spool_head() {
  std::string head = "encspool" + bytes_of_number(record::spool_format) + bytes_of_number(std::uint32_t{1});
  head.resize(record::spool_head_bytes - 4, '\0');
  return head + bytes_of_number(sum_of(head));
}

std::string frame(std::uint64_t sequence, record::SpoolKind kind, const std::string& body) {
  const std::string payload = bytes_of_number(sequence) + bytes_of_number(kind) + body;
  return bytes_of_number(static_cast<std::uint32_t>(payload.size())) + bytes_of_number(sum_of(payload)) +
         payload;
}

std::string point(std::uint64_t sequence) {
  return frame(sequence, record::SpoolKind::point,
               bytes_of_number(std::uint32_t{0}) + bytes_of_number(std::int64_t{1}) + bytes_of_number(0.5));
}

/// Reads a spool as the store reads that of an attempt that has ended: damage is skipped.
void read_spool(const std::string& bytes) {
  TemporaryFolder folder;
  write_bytes(folder / "a.spool", bytes);
  record::SpoolReader reader(folder / "a.spool");
  record::SpoolRecord record;
  do
    while (reader.next(record))
      if (record.kind == record::SpoolKind::event) record.event();
  while (reader.skip_damage());
}

constexpr double spool_memory = 40.0, spool_steps = 600.0;

TEST(SpoolBounds, ManyPoints) {
  expect_linear(
      {20000, spool_steps, spool_memory},
      [](std::size_t n) { return spool_head() + repeated(n, [](std::size_t i) { return point(i + 1); }); },
      read_spool);
}

TEST(SpoolBounds, OneLongEvent) {
  expect_linear(
      {20000, spool_steps, spool_memory},
      [](std::size_t n) {
        return spool_head() + frame(1, record::SpoolKind::event,
                                    R"({"type":"log","time":1,"text":[)" + repeated(n, "[],") + "0]}");
      },
      read_spool);
}

TEST(SpoolBounds, ManyPlacesOfDamage) {
  expect_linear(
      {10000, 4000.0, spool_memory},
      [](std::size_t n) {
        return spool_head() + repeated(n, [](std::size_t i) { return "damage" + point(i + 1); });
      },
      read_spool);
}

TEST(SpoolBounds, ManyLengthsOfTheWholeRest) {
  expect_linear(
      {4000, 4000.0, spool_memory},
      [](std::size_t n) {
        std::string rest;
        for (std::size_t i = n; i > 0; --i)
          rest = bytes_of_number(static_cast<std::uint32_t>(rest.size() / 2 + 100)) +
                 bytes_of_number(std::uint32_t{0}) + point(i) + rest;
        return spool_head() + rest + std::string(200, 'x');
      },
      read_spool);
}

TEST(SpoolBounds, NothingButLengths) {
  expect_linear(
      {100000, 4000.0, spool_memory},
      [](std::size_t n) { return spool_head() + repeated(n, bytes_of_number(std::uint32_t{40})); },
      read_spool);
}

// --- safetensors ---

void read_header(const std::string& text) {
  record::parse_safetensors_header(text);
}

TEST(SafetensorsBounds, ManyTensors) {
  expect_linear(
      {4000, 800.0, 40.0},
      [](std::size_t n) {
        return "{" +
               joined(n,
                      [](std::size_t i) {
                        return numbered("\"a", i) + R"(":{"dtype":"F32","shape":[],"data_offsets":[0,4]})";
                      }) +
               "}";
      },
      read_header);
}

TEST(SafetensorsBounds, ManyValuesOfMetadata) {
  expect_linear(
      {4000, 800.0, 40.0},
      [](std::size_t n) {
        return R"({"__metadata__":{)" +
               joined(n, [](std::size_t i) { return numbered("\"a", i) + "\":\"\""; }) + "}}";
      },
      read_header);
}

TEST(SafetensorsBounds, ManyExtents) {
  expect_linear(
      {20000, 800.0, 40.0, Outcome::refused},
      [](std::size_t n) {
        return R"({"a":{"dtype":"F32","shape":[)" + repeated(n, "0,") + R"(0],"data_offsets":[0,0]}})";
      },
      read_header);
}

TEST(SafetensorsBounds, ALongName) {
  expect_linear(
      {100000, 800.0, 40.0},
      [](std::size_t n) {
        return "{\"" + repeated(n, "a") + R"(":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
      },
      read_header);
}

// --- SentencePiece ---

std::string wire(char number, const std::string& content) {
  std::string length;
  std::size_t left = content.size();
  for (; left >= 128; left >>= 7) length += static_cast<char>((left & 127) | 128);
  return std::string(1, static_cast<char>(number << 3 | 2)) + length + static_cast<char>(left) + content;
}

void read_sentencepiece(const std::string& model) {
  data::sentencepiece_tokens(model);
  data::sentencepiece_contents(model);
}

TEST(SentencePieceBounds, ManyTokens) {
  expect_linear(
      {20000, 600.0, 40.0}, [](std::size_t n) { return repeated(n, wire(1, wire(1, "a"))); },
      read_sentencepiece);
}

TEST(SentencePieceBounds, ManyStringsOfAToken) {
  expect_linear(
      {20000, 600.0, 40.0}, [](std::size_t n) { return wire(1, repeated(n, wire(1, "a"))); },
      read_sentencepiece);
}

TEST(SentencePieceBounds, ManyNormalizers) {
  expect_linear(
      {20000, 600.0, 40.0},
      [](std::size_t n) { return wire(1, wire(1, "a")) + repeated(n, wire(3, wire(2, "b"))); },
      read_sentencepiece);
}

TEST(SentencePieceBounds, ManyNumbers) {
  expect_linear(
      {20000, 600.0, 40.0},
      [](std::size_t n) {
        return wire(1, wire(1, "a")) + repeated(n, "\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
      },
      read_sentencepiece);
}

// --- bundles ---

std::string file_entity(const std::string& path, const std::string& content) {
  return R"({"@id":")" + path + R"(","contentSize":")" + std::to_string(content.size()) + R"(","sha256":")" +
         sha256(content) + "\"}";
}

/// Returns the path of one of the empty files of a run; the bundle also has a database of a few bytes.
std::string path_of(std::size_t file) {
  return archive::bundle_runs + "0123456789/" + numbered("a", file);
}
std::string metadata_of(std::size_t files, const std::string& more = "") {
  return R"({"@graph":[{"@id":"./","name":"run a","schemaVersion":"encore-bundle-1","license":{"@id":"#licence"},)"
         R"("hasPart":[{"@id":"encore.db"})" +
         repeated(files, [](std::size_t i) { return R"(,{"@id":")" + path_of(i) + "\"}"; }) +
         R"(]},{"@id":"#encore","version":"1"},{"@id":"#licence","name":"x"},)" +
         file_entity(archive::bundle_database, "db") +
         repeated(files, [](std::size_t i) { return "," + file_entity(path_of(i), ""); }) + more + "]}";
}

void read_metadata(const std::string& text) {
  archive::read_bundle_index(text, "a.tar.zst");
}

/// Reading metadata must take less than a tenth of the memory of a tree of its values: for 31 MiB of metadata
/// such a tree took 1.1 GB.
constexpr double metadata_memory = 8.0, metadata_steps = 400.0;

TEST(BundleMetadataBounds, ManyFiles) {
  expect_linear(
      {4000, metadata_steps, metadata_memory}, [](std::size_t n) { return metadata_of(n); }, read_metadata);
}

TEST(BundleMetadataBounds, ManyUnusedValues) {
  expect_linear(
      {100000, metadata_steps, metadata_memory},
      [](std::size_t n) { return metadata_of(0, R"(,{"@id":"a","b":[)" + repeated(n, "0,[],{},") + "0]}"); },
      read_metadata);
}

TEST(BundleMetadataBounds, ManyUnusedMembers) {
  expect_linear(
      {20000, metadata_steps, metadata_memory},
      [](std::size_t n) {
        return metadata_of(0, R"(,{"@id":"a")" + repeated(n, [](std::size_t i) {
                                return numbered(",\"b", i) + "\":0";
                              }) + "}");
      },
      read_metadata);
}

/// Up to the limit of their number, each entity takes 400 bytes, whatever its content.
TEST(BundleMetadataBounds, ManySmallEntities) {
  expect_linear(
      {10000, metadata_steps, 32.0},
      [](std::size_t n) {
        return metadata_of(0,
                           repeated(n, [](std::size_t i) { return numbered(",{\"@id\":\"a", i) + "\"}"; }));
      },
      read_metadata);
}

TEST(BundleMetadataBounds, ManyInvalidParts) {
  expect_linear(
      {20000, metadata_steps, 64.0, Outcome::refused},
      [](std::size_t n) { return R"({"@graph":[{"@id":"./","hasPart":[)" + repeated(n, "0,") + "0]}]}"; },
      read_metadata);
}

std::string entry(const std::string& name, const std::string& content) {
  return archive::tar_head({archive::bundle_root + name, content.size()}) + content +
         archive::tar_padding(content.size());
}

/// An archive that is measured by the bytes of its tar, because zeros and repetitions almost vanish when it
/// is compressed.
struct Archive {
  std::string tar;
};
std::size_t bytes_of(const Archive& archive) {
  return archive.tar.size();
}

void unpack(const Archive& archive) {
  TemporaryFolder folder;
  archive::ZstdWriter out(folder / "x.tar.zst");
  out.write(archive.tar);
  out.finish();
  archive::UnpackedBundle bundle(folder / "x.tar.zst");
  bundle.index().bytes();
}

TEST(BundleBounds, ManySmallFiles) {
  expect_linear(
      {500, 800.0, 40.0},
      [](std::size_t n) {
        return Archive{entry(archive::bundle_metadata, metadata_of(n)) +
                       entry(archive::bundle_database, "db") +
                       repeated(n, [](std::size_t i) { return entry(path_of(i), ""); }) + archive::tar_end()};
      },
      unpack);
}

TEST(BundleBounds, AFileThatIsNotItsDigest) {
  expect_linear(
      {2000000, 800.0, 40.0, Outcome::refused},
      [](std::size_t n) {
        std::string metadata = metadata_of(0);
        const std::string size = R"("contentSize":"2")";
        metadata.replace(metadata.find(size), size.size(), R"("contentSize":")" + std::to_string(n) + "\"");
        return Archive{entry(archive::bundle_metadata, metadata) +
                       entry(archive::bundle_database, std::string(n, 'd')) + archive::tar_end()};
      },
      unpack);
}

}  // namespace
}  // namespace encore::bounds
