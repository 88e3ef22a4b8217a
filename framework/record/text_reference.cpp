// SPDX-License-Identifier: BSD-3-Clause
// TextReference: sorts values into bins, sums them up, and writes and reads reference.json. train/, the
// worker and monitor/ call it. The bins are part of the file's version: counts in other bins cannot be
// compared, so a change needs a new reference_version. Read text_reference.hpp first.
#include "record/text_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/load_file.hpp"

namespace encore::record {
namespace {

constexpr int reference_version = 1;
constexpr std::size_t most_bins = 4096;

/// Returns the bin of a scaled value: bins are unit intervals from 0. Smaller values are in the first bin,
/// larger ones in the last.
std::size_t bin_of(double scaled, std::size_t last) {
  if (!(scaled > 0.0)) return 0;
  return scaled >= static_cast<double>(last) ? last : static_cast<std::size_t>(scaled);
}

/// Returns the bin of a length. Each length up to 16 tokens has its own bin; the width of later bins grows by
/// an eleventh from bin to bin (the eighth root of 2).
std::size_t tokens_bin(double tokens) {
  return bin_of(8.0 * std::log2(std::max(tokens, 1.0)), 127);
}

/// Returns the bin of a share in [0, 1]. A share of 0 has its own bin.
std::size_t share_bin(double share) {
  return share > 0.0 ? 1 + bin_of(20.0 * share, 19) : 0;
}

/// Returns the bin of a confidence in [0, 1], by its distance to 1: four bins for each halving of that
/// distance.
std::size_t confidence_bin(double confidence) {
  return bin_of(-4.0 * std::log2(std::max(1.0 - confidence, 0x1p-16)), 64);
}

std::size_t distance_bin(double distance) {
  return bin_of(16.0 * distance, 127);
}

bool is_count(std::int64_t number) {
  return number >= 0 && number <= most_counted;
}

bool is_sound(const StreamCounts& stream) {
  return stream.bins.size() <= most_bins && std::isfinite(stream.sum) &&
         std::ranges::all_of(stream.bins, is_count);
}

bool is_sound(const EmbeddingCloud& cloud) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return cloud.mean.size() == cloud.variance.size() && std::ranges::all_of(cloud.mean, is_finite) &&
         std::ranges::all_of(cloud.variance, is_finite);
}

}  // namespace

std::int64_t StreamCounts::count() const {
  return std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
}

void StreamCounts::add(std::size_t bin, double value) {
  if (bins.size() <= bin) bins.resize(bin + 1);
  ++bins[bin];
  sum += value;
}

std::vector<StreamValue> TextHistograms::values_of(const TextFacts& facts) const {
  std::vector<StreamValue> values;
  const auto tokens = static_cast<double>(facts.tokens);
  values.push_back({tokens_stream, tokens, tokens_bin(tokens)});
  const double unknown = facts.tokens > 0 ? static_cast<double>(facts.unknown) / tokens : 0.0;
  values.push_back({unknown_stream, unknown, share_bin(unknown)});
  if (facts.confidence)
    values.push_back({confidence_stream, *facts.confidence, confidence_bin(*facts.confidence)});
  if (facts.distance) values.push_back({distance_stream, *facts.distance, distance_bin(*facts.distance)});
  std::int64_t all = 0;
  for (const auto& [label, count] : facts.labels) all += count;
  for (const auto& [label, count] : labels) {
    const auto found = facts.labels.find(label);
    const double share = found == facts.labels.end() || all == 0
                             ? 0.0
                             : static_cast<double>(found->second) / static_cast<double>(all);
    values.push_back({label_stream + label, share, share_bin(share)});
  }
  return values;
}

void TextHistograms::add(const TextFacts& facts) {
  for (const StreamValue& value : values_of(facts)) streams[value.stream].add(value.bin, value.value);
  for (const auto& [label, count] : facts.labels) labels[label] += count;
  ++texts;
}

std::optional<double> EmbeddingCloud::distance(std::span<const float> embedding) const {
  if (mean.empty() || embedding.size() != mean.size()) return {};
  double sum = 0.0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double difference = static_cast<double>(embedding[i]) - mean[i];
    sum += difference * difference / std::max(variance[i], 1e-12);
  }
  return std::sqrt(sum / static_cast<double>(mean.size()));
}

static void list(auto& field, A<StreamCounts> auto& stream) {
  field("bins", stream.bins);
  field("sum", stream.sum);
}

static void list(auto& field, A<EmbeddingCloud> auto& cloud) {
  field("mean", cloud.mean);
  field("variance", cloud.variance);
}

/// A file of another version is not read any further.
static void list(auto& field, A<TextReference> auto& reference) {
  int version = reference_version;
  field("version", version);
  if (version != reference_version)
    throw Error("it is of version " + std::to_string(version) + ", and this Encore reads version " +
                std::to_string(reference_version));
  field("source", reference.source);
  field("step", reference.step);
  field("texts", reference.histograms.texts);
  field("labels", reference.histograms.labels);
  field("streams", reference.histograms.streams);
  field.optional("embeddings", reference.embeddings);
}

std::string TextReference::json() const {
  using Json = nlohmann::ordered_json;
  return to_json_object<Json>(*this).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

TextReference TextReference::parse(std::string_view text) try {
  auto reference = from_json_object<TextReference>(parse_json(text));
  const TextHistograms& histograms = reference.histograms;
  if (!is_count(histograms.texts) ||
      !std::ranges::all_of(histograms.labels, [](const auto& label) { return is_count(label.second); }))
    throw Error("its numbers of inputs and labels must be from 0 to " + std::to_string(most_counted));
  if (!std::ranges::all_of(histograms.streams, [](const auto& stream) { return is_sound(stream.second); }))
    throw Error("invalid histogram");
  if (!is_sound(reference.embeddings))
    throw Error("its embeddings have means and variances of two widths, or numbers that are not finite");
  return reference;
} catch (const FieldError& error) {
  throw Error(std::string("invalid reference: ") + error.what());
}

std::optional<TextReference> find_reference(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / reference_file;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  try {
    return TextReference::parse(load_file(path, "reference"));
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what() +
                "; run exp evaluate RUN FILE --reference to make it again");
  }
}

}  // namespace encore::record
