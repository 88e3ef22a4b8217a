// SPDX-License-Identifier: BSD-3-Clause
// The vectors of an index: find_encoder() finds the run whose model computes them, encode_texts() asks its
// worker for one part of the inputs, and missing_vectors() computes all that are not kept yet. Place in the
// flow: index.cpp -> here -> worker_answer.cpp -> worker/embed_verb.cpp, which `exp embed` asks too. A vector
// does not depend on the inputs beside it, so the size of a part may change. Read next: kept_vectors.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <encore/document_index.hpp>

#include "app/app.hpp"
#include "app/kept_vectors.hpp"
#include "app/run_plugins.hpp"

namespace encore::app {

/// A run whose model computes vectors.
struct EncoderRun {
  TrainedRun run;
  IndexEncoder identity;  ///< what an index records
};

/// Finds the run and the digest of its weights. Throws Error if no run or several have this name, or
/// UsageError if the run is not complete.
EncoderRun find_encoder(const App& app, const std::string& word, const ModelRequest& request);

/// Finds the run that `model` names, or without it the run that the index names. Throws like find_encoder(),
/// and UsageError if the run has other weights than those that made the vectors of the index, or if the index
/// names no run. `folder` is the index in messages.
EncoderRun encoder_of_index(const App& app, const std::string& folder, const DocumentIndex& index,
                            const std::optional<std::string>& model, const ModelRequest& request);

/// Returns whether the text has no visible character. Such a text has a vector of zeros, as in the step
/// `search`.
bool is_blank(const std::string& text);

/// Returns the vectors of inputs that are not blank, by one call of a worker. `events` receives its progress.
std::vector<std::vector<float>> encode_texts(const App& app, Events& events, const EncoderRun& encoder,
                                             const ModelRequest& request,
                                             const std::vector<std::string>& texts);

/// How far missing_vectors() came.
struct EncodedTexts {
  std::size_t computed = 0;
  std::size_t missing = 0;  ///< not 0: the user asked to stop
};
/// Computes the vectors of the inputs that `kept` lacks, in parts of a few seconds, and adds each part to
/// `kept`. Stops between two parts if the user asks to stop.
EncodedTexts missing_vectors(const App& app, const EncoderRun& encoder, const ModelRequest& request,
                             const std::vector<const std::string*>& texts, KeptVectors& kept);

}  // namespace encore::app
