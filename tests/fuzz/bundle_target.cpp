// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "bundle": mutated archives go to archive::UnpackedBundle, which opens the bundles of other
// people for `exp verify`, `exp bundle show` and `exp serve`. The archive is mutated before it is compressed:
// its list (JSON, with a matching size), the head of an entry (with a matching checksum), or any bytes.
// fuzz.cpp calls the target; read target.hpp first.
#include "archive/tar.hpp"
#include "archive/unpack_bundle.hpp"
#include "archive/zstd_file.hpp"
#include "base/sha256.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

std::string entry_of(const std::string& name, const std::string& content) {
  return archive::tar_head({archive::bundle_root + name, content.size()}) + content +
         archive::tar_padding(content.size());
}

std::string file_entity(const std::string& name, const std::string& content) {
  return R"(,{"@id":")" + name + R"(","@type":"File","contentSize":")" + std::to_string(content.size()) +
         R"(","sha256":")" + sha256(content) + "\"}";
}

std::string archive() {
  const std::string database = "no database", specification = "{}";
  const std::string second = archive::bundle_runs + "0123456789/specification.json";
  const std::string metadata =
      R"({"@graph":[{"@id":"./","name":"run a","schemaVersion":"encore-bundle-1","license":{"@id":"#licence"},)"
      R"("hasPart":[{"@id":"encore.db"},{"@id":")" +
      second + R"("}]},{"@id":"#encore","version":"1"},{"@id":"#licence","name":"x"})" +
      file_entity(archive::bundle_database, database) + file_entity(second, specification) + "]}";
  return entry_of(archive::bundle_metadata, metadata) + entry_of(archive::bundle_database, database) +
         entry_of(second, specification) + archive::tar_end();
}

/// Writes the right checksum into the head of an entry, which is the block that begins at `block`.
void sum_again(std::string& input, std::size_t block) {
  constexpr std::size_t place = 148, digits = 6;
  input.replace(block + place, 8, "        ");
  unsigned sum = 0;
  for (std::size_t at = 0; at < archive::tar_block; ++at)
    sum += static_cast<unsigned char>(input[block + at]);
  for (std::size_t at = digits; at-- > 0; sum /= 8)
    input[block + place + at] = static_cast<char>('0' + sum % 8);
  input[block + place + digits] = '\0';
}

class BundleTarget final : public Target {
 public:
  std::string name() const override { return "bundle"; }
  std::vector<std::string> corpus() override { return {archive()}; }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    if (random.once_in(3)) return mutate_bytes(input, json_words(), others, random);
    const std::size_t blocks = input.size() / archive::tar_block;
    if (random.once_in(2) && blocks > 0) {
      const std::size_t block = archive::tar_block * random.below(blocks);
      std::string head = input.substr(block, archive::tar_block);
      mutate_bytes(head, json_words(), {head}, random);
      head.resize(archive::tar_block);
      input.replace(block, archive::tar_block, head);
      return sum_again(input, block);
    }
    const std::size_t end = input.find('\0', archive::tar_block);
    if (input.size() < 2 * archive::tar_block || end == std::string::npos) return;
    std::string metadata = input.substr(archive::tar_block, end - archive::tar_block);
    const std::size_t old_size = metadata.size() + archive::tar_padding(metadata.size()).size();
    mutate_json(metadata, random);
    input = entry_of(archive::bundle_metadata, metadata) +
            input.substr(std::min(input.size(), archive::tar_block + old_size));
  }

  void take(const std::string& input) override {
    archive::ZstdWriter out(folder_ / "x.tar.zst");
    out.write(input);
    out.finish();
    archive::UnpackedBundle(folder_ / "x.tar.zst").index().bytes();
  }

 private:
  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_bundle_target() {
  return std::make_unique<BundleTarget>();
}

}  // namespace encore::fuzz
