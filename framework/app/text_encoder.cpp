// SPDX-License-Identifier: BSD-3-Clause
// Asks the worker of a run for vectors, part by part. The parts grow or shrink so that each takes a few
// seconds: a worker that starts loads the model, and an interruption loses at most one part. Read
// text_encoder.hpp first.
#include "app/text_encoder.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include <encore/lines.hpp>

#include "app/worker_answer.hpp"
#include "base/readable_text.hpp"
#include "base/sha256.hpp"
#include "record/embed_request.hpp"
#include "record/weights_file.hpp"

namespace encore::app {

namespace {

constexpr const char* unit_of_progress = "inputs";
constexpr std::size_t first_part = 64, largest_part = 16384;
constexpr std::chrono::seconds short_time(3), long_time(12);

/// Passes on the progress of one part as that of all inputs.
class PartProgress final : public Events {
 public:
  PartProgress(Events& events, std::size_t before, std::size_t all)
      : events_(events), before_(before), all_(all) {}
  void progressed(const std::string& what, std::size_t done, std::size_t /*all*/,
                  const std::string& /*unit*/) override {
    if (!what.empty() && before_ + done < all_)
      events_.progressed(what, before_ + done, all_, unit_of_progress);
  }
  void noticed(const std::string& text) override { events_.noticed(text); }
  void relayed(const std::string& text) override { events_.relayed(text); }

 private:
  Events& events_;
  std::size_t before_, all_;
};

std::size_t next_part(std::size_t part, std::chrono::steady_clock::duration time) {
  if (time < short_time) return std::min(part * 2, largest_part);
  if (time > long_time) return std::max(part / 2, std::size_t{1});
  return part;
}

}  // namespace

EncoderRun find_encoder(const App& app, const std::string& word, const ModelRequest& request) {
  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow row = selected_run(app, store, selection_from({}, {word}));
  EncoderRun encoder{.run = find_trained_run(store, row, request.backend), .identity = {}};
  std::error_code ignored;
  if (!std::filesystem::exists(encoder.run.folder / record::weights_file, ignored))
    throw UsageError("run " + row.name + " (" + store::name_of(row.state) + ") has no " +
                     record::weights_file + " in " + encoder.run.folder.string() +
                     ": its vectors would change; complete the run first");
  const record::WeightsFile weights(encoder.run.folder);
  encoder.identity = {.run = row.name, .weights = record::digest_of(weights.facts().tensors)};
  return encoder;
}

EncoderRun encoder_of_index(const App& app, const std::string& folder, const DocumentIndex& index,
                            const std::optional<std::string>& model, const ModelRequest& request) {
  const std::optional<IndexEncoder> recorded = index.encoder();
  if (!recorded)
    throw UsageError(folder +
                     " does not say which run made its vectors, because a step of an application built it: "
                     "search it with --method words, or build an index with exp index build --model RUN");
  EncoderRun encoder;
  try {
    encoder = find_encoder(app, model.value_or(recorded->run), request);
  } catch (const Error& error) {
    if (model) throw;
    throw UsageError(error.what() + std::string("; the vectors of ") + folder + " were made by run " +
                     recorded->run + ": name a run with the same weights (--model)");
  }
  if (recorded->weights == encoder.identity.weights) return encoder;
  throw UsageError("the vectors of " + folder + " were made by run " + recorded->run + " with weights " +
                   short_hash(recorded->weights) + ", but run " + encoder.identity.run + " has weights " +
                   short_hash(encoder.identity.weights) +
                   ": name a run with the same weights (--model), or build the index again");
}

bool is_blank(const std::string& text) {
  return trimmed(text).empty();
}

std::vector<std::vector<float>> encode_texts(const App& app, Events& events, const EncoderRun& encoder,
                                             const ModelRequest& request,
                                             const std::vector<std::string>& texts) {
  const record::EmbedRequest wanted{.of = record::EmbedRequest::Of::texts, .queries = texts};
  const std::vector<std::string> arguments =
      worker_arguments(app, request, encoder.run, "embed", {"--threads", std::to_string(request.threads)});
  const auto answer =
      worker_answer<record::EmbedAnswer>(events, encoder.run.worker, arguments, wanted.text());
  if (answer.vectors.size() != texts.size())
    throw Error("the worker gave " + std::to_string(answer.vectors.size()) + " vectors for " +
                std::to_string(texts.size()) + " inputs; build exp and encore-worker from the same source");
  std::vector<std::vector<float>> vectors;
  for (const record::TextVector& one : answer.vectors)
    vectors.emplace_back(one.vector.begin(), one.vector.end());  // the worker wrote float32
  return vectors;
}

/// Computes the vectors of one part and keeps them.
static void keep_vectors(const App& app, Events& events, const EncoderRun& encoder,
                         const ModelRequest& request, const std::vector<const std::string*>& part,
                         KeptVectors& kept) {
  std::vector<std::string> inputs;
  for (const std::string* text : part) inputs.push_back(*text);
  const std::vector<std::vector<float>> vectors = encode_texts(app, events, encoder, request, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) kept.add(inputs[i], vectors[i]);
  kept.flush();
}

EncodedTexts missing_vectors(const App& app, const EncoderRun& encoder, const ModelRequest& request,
                             const std::vector<const std::string*>& texts, KeptVectors& kept) {
  std::vector<const std::string*> missing;
  std::unordered_set<std::string_view> seen;
  for (const std::string* text : texts)
    if (!kept.has(*text) && seen.insert(*text).second) missing.push_back(text);
  EncodedTexts encoded{.missing = missing.size()};
  if (missing.empty()) return encoded;
  app.events.started();
  const ProgressEnd end{app.events};
  for (std::size_t part = first_part; encoded.missing > 0 && app.stop.load() == 0;) {
    const auto begin = std::chrono::steady_clock::now();
    const auto first = missing.begin() + static_cast<std::ptrdiff_t>(encoded.computed);
    const std::size_t count = std::min(part, encoded.missing);
    try {
      PartProgress progress(app.events, encoded.computed, missing.size());
      keep_vectors(app, progress, encoder, request, {first, first + static_cast<std::ptrdiff_t>(count)},
                   kept);
    } catch (const Error& error) {
      if (encoded.computed == 0) throw;
      throw WorkError(error.what() + std::string("; ") + counted(encoded.computed, "vector") +
                      " kept: the same command resumes");
    }
    encoded.computed += count;
    encoded.missing -= count;
    app.events.progressed("embedded", encoded.computed, missing.size(), unit_of_progress);
    part = next_part(part, std::chrono::steady_clock::now() - begin);
  }
  return encoded;
}

}  // namespace encore::app
