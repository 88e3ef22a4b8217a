// SPDX-License-Identifier: BSD-3-Clause
// WeightsFile: writes and reads the weights file of a run. The facts are one JSON text in the metadata with
// its own digest, so that every meaningful byte of the file can be compared with what was written.
// train/snapshots writes, infer/run_weights reads. Complete runs have such files, so the members of the facts
// keep their names. Read weights_file.hpp first.
#include "record/weights_file.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/parallel.hpp"
#include "base/sha256.hpp"

namespace encore::record {

static void list(auto& field, A<WeightsFacts> auto& facts) {
  field("question", facts.question);
  field("step", facts.step);
  field("files", facts.files);
  field("tensors", facts.tensors);
  field.optional("tuned", facts.tuned);
  field.optional("made_from", facts.made_from);
  if (!facts.made_from.empty()) field("int8", facts.int8);
}

namespace {

constexpr const char* weights_format = "encore weights 1";
constexpr std::size_t cache_line = 64;

/// Returns the SHA-256 of each tensor, in their order.
std::vector<std::string> digests_of(const std::vector<std::span<const std::byte>>& pieces, int threads) {
  std::vector<std::string> digests(pieces.size());
  run_parts(static_cast<std::int64_t>(pieces.size()), threads, [&](std::int64_t number) {
    const auto piece = static_cast<std::size_t>(number);
    Sha256 hash;
    hash.add(pieces[piece]);
    digests[piece] = hash.hex();
  });
  return digests;
}

WeightsFacts read_facts(const Safetensors& file) {
  if (file.text("format") != weights_format)
    throw Error("its format is \"" + file.text("format") + "\", not \"" + weights_format + "\"");
  if (sha256(file.text("facts")) != file.text("facts_sha256"))
    throw Error("the facts in its header are not those that were written");
  WeightsFacts facts = from_json_object<WeightsFacts>(parse_json(file.text("facts")));
  for (const auto& [name, entry] : file.tensors())
    if (!facts.tensors.contains(name)) throw Error("there is no digest of tensor \"" + name + "\"");
  for (const auto& [name, digest] : facts.tensors)
    if (!file.has(name)) throw Error("tensor \"" + name + "\" is missing");
  return facts;
}

}  // namespace

std::string digest_of(const DigestsByName& tensors) {
  Sha256 all;
  for (const auto& [name, digest] : tensors) all.add(name + ' ' + digest + '\n');
  return all.hex();
}

SavedFile save_weights(const std::filesystem::path& run_folder, std::vector<TensorSlice> tensors,
                       WeightsFacts facts, int threads, const std::function<void()>& before_rename,
                       const char* name) {
  std::stable_partition(tensors.begin(), tensors.end(),
                        [](const TensorSlice& tensor) { return tensor.bytes.size() % cache_line == 0; });
  std::vector<std::span<const std::byte>> pieces;
  for (const TensorSlice& tensor : tensors) pieces.push_back(tensor.bytes);
  const std::vector<std::string> digests = digests_of(pieces, threads);
  for (std::size_t i = 0; i < tensors.size(); ++i) facts.tensors[tensors[i].name] = digests[i];
  const std::string text = to_json_object(facts).dump();
  return save_safetensors(run_folder / name, tensors,
                          {{"format", weights_format}, {"facts", text}, {"facts_sha256", sha256(text)}},
                          before_rename);
}

WeightsFile::WeightsFile(const std::filesystem::path& run_folder, const char* name)
    : tensors_(run_folder / name) {
  try {
    facts_ = read_facts(tensors_);
  } catch (const std::exception& error) {
    throw Error(tensors_.path().string() + ": not a sound file of weights: " + error.what());
  }
}

void WeightsFile::require_whole(int threads) const {
  std::vector<std::string> names;
  std::vector<std::span<const std::byte>> pieces;
  for (const auto& [name, entry] : tensors_.tensors()) {
    names.push_back(name);
    pieces.push_back(entry.bytes);
  }
  const std::vector<std::string> digests = digests_of(pieces, threads);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (digests[i] != facts_.tensors.at(names[i]))
      throw Error(tensors_.path().string() + ": tensor \"" + names[i] +
                  "\" is damaged: its SHA-256 is not the one that was written with it");
}

}  // namespace encore::record
