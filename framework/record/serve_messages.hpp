// SPDX-License-Identifier: BSD-3-Clause
// The messages between `exp serve` and its workers over a socket, one struct per message. A message is a
// frame [u32 length][u32 crc32 of payload][payload]; payload = u8 kind, then the fields in their order:
// numbers little endian, strings as u32 length and bytes. serve/worker_link.cpp and worker/serve_verb.cpp
// send and receive them: first the model, then batches in one direction and answers in the other. Both
// programs come from one build, so the messages may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace encore::record {

/// What is computed for the text of an item.
enum class ServeWork : std::uint8_t {
  answer = 1,  ///< what the task answers: a JSON object, as `exp predict --json` prints it
  vector = 2,  ///< the text's vector: float32, little endian
  writing = 3  ///< the text is a GenerateRequest; the answer is a JSON array, a member for each prompt
};

struct ServeItem {
  std::uint64_t id = 0;  ///< of its answers
  ServeWork work = ServeWork::answer;
  /// For a text that is longer than the model reads: read its beginning instead of refusing it. For a
  /// writing: send it while it grows.
  bool allowed = false;
  bool observed = false;  ///< for an answer: send its facts too
  bool scored = false;    ///< for an answer: with probabilities, as `exp predict --scores --json` prints it
  std::string text = {};

  friend bool operator==(const ServeItem&, const ServeItem&) = default;
};

/// A message to the worker: items that are computed together.
struct ServeBatch {
  std::vector<ServeItem> items = {};

  friend bool operator==(const ServeBatch&, const ServeBatch&) = default;
};

/// A message to the worker: the client no longer waits for this item.
struct ServeCancel {
  std::uint64_t id = 0;

  friend bool operator==(const ServeCancel&, const ServeCancel&) = default;
};

/// The first message from a worker, sent once: the model that it has loaded.
struct ServeModel {
  std::string digest;     ///< SHA-256 of its parameters (Engine::digest)
  std::int64_t step = 0;  ///< after which they were taken
  std::string no_answers = {}, no_vectors = {},
              no_writing = {};          ///< why it does not do this work; "": it does
  std::string no_scores = {};           ///< why its answers have no probabilities; "": they have
  std::vector<std::string> notes = {};  ///< notes for the user about how it was loaded
  std::string task = {};                ///< its type
  /// The fields of an input for `answer`, separated by tabs if there are several: {"question", "context"}.
  std::vector<std::string> fields = {};
  std::vector<std::string> labels = {};  ///< its classes, by number; none: it has no classes
  /// Of an application whose steps say who answers a request: the fields of its answer with the band and with
  /// the label that it proposes; "": it has no such step, or the step reads no label.
  std::string band = {}, proposal = {};

  friend bool operator==(const ServeModel&, const ServeModel&) = default;
};

enum class ServeOutcome : std::uint8_t {
  part = 1,    ///< of a writing that is sent while it grows: the new part
  done = 2,    ///< the answer
  refused = 3  ///< why this text has no answer
};

/// A message from the worker. Each item gets exactly one answer that is not a part, in every case.
struct ServeAnswer {
  std::uint64_t id = 0;
  ServeOutcome outcome = ServeOutcome::done;
  std::int64_t tokens = 0;  ///< tokens that the model has read
  std::string text = {};
  std::string facts = {};  ///< TextFacts::json, if requested
  /// For a vector: a JSON object with the members that its text adds to the answer, `windows` or `truncated`.
  std::string members = {};

  friend bool operator==(const ServeAnswer&, const ServeAnswer&) = default;
};

struct ServeAnswers {
  std::vector<ServeAnswer> answers = {};

  friend bool operator==(const ServeAnswers&, const ServeAnswers&) = default;
};

using ServeMessage = std::variant<ServeBatch, ServeCancel, ServeModel, ServeAnswers>;

/// The length from which a frame counts as damaged.
inline constexpr std::size_t serve_frame_limit = std::size_t{256} << 20;

/// Returns the whole frame.
std::string serve_frame(const ServeMessage& message);

/// Builds messages from bytes as they arrive.
class ServeFrames {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  /// Returns the next whole message, or nothing if it needs more bytes. Throws Error if the bytes are not
  /// such frames: nothing behind them can be read either.
  std::optional<ServeMessage> next();
  /// Returns whether the bytes end between two frames.
  bool empty() const { return begin_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
};

}  // namespace encore::record
