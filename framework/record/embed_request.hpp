// SPDX-License-Identifier: BSD-3-Clause
// EmbedRequest is what `exp embed` asks of the worker, as JSON on its standard input, and EmbedAnswer is what
// the worker answers. app/embed.cpp writes the request and reads the answer, worker/embed_verb.cpp does the
// reverse. The request may change; `exp embed --json` prints the members of the answer, which keep their
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"

namespace encore::record {

struct EmbedRequest {
  enum class Of : std::uint8_t {
    texts,    ///< vectors of the queries, or the nearest of `texts` to each
    words,    ///< the nearest words of the vocabulary to each query
    analogy,  ///< which words are to the third query as the first is to the second
  };

  Of of = Of::texts;
  std::vector<std::string> queries;
  std::vector<std::string> texts = {};
  std::size_t count = 0;  ///< number of neighbours; 0: vectors instead of neighbours

  bool asks_for_vectors() const { return of == Of::texts && count == 0; }
  std::string text() const;
  /// Throws Error when the text is not a request.
  static EmbedRequest parse(const std::string& text);
};

/// A text or word that is near to a query.
struct NearText {
  std::string text;
  std::optional<std::size_t> number = {};  ///< of the text or word, in the worker's answer
  double similarity = 0.0;                 ///< the cosine
  std::optional<std::size_t> line = {};    ///< of the corpus; exp puts it in place of the number
  bool operator==(const NearText&) const = default;
};
void list(auto& field, A<NearText> auto& near) {
  field("text", near.text);
  field.optional("number", near.number);
  field("similarity", near.similarity);
  field.optional("line", near.line);
}

struct NearestTexts {
  std::string query;
  std::vector<NearText> neighbours = {};
  bool operator==(const NearestTexts&) const = default;
};
void list(auto& field, A<NearestTexts> auto& nearest) {
  field("query", nearest.query);
  field("neighbours", nearest.neighbours);
}

struct TextVector {
  std::string text;
  std::vector<double> vector = {};
  std::optional<std::size_t> windows = {};    ///< in which the text was read, if there are several
  std::optional<std::string> truncated = {};  ///< what the vector does not depend on
  bool operator==(const TextVector&) const = default;
};
void list(auto& field, A<TextVector> auto& of) {
  field("text", of.text);
  field("vector", of.vector);
  field.optional("windows", of.windows);
  field.optional("truncated", of.truncated);
}

struct EmbedAnswer {
  std::int64_t step = 0;
  std::size_t width = 0;                   ///< of a vector
  std::optional<std::size_t> words = {};   ///< of the vocabulary that was searched
  std::vector<NearestTexts> nearest = {};  ///< of each query
  std::vector<TextVector> vectors = {};    ///< in place of `nearest`
};
void list(auto& field, A<EmbedAnswer> auto& answer) {
  field("step", answer.step);
  field("width", answer.width);
  field.optional("words", answer.words);
  field.optional("nearest", answer.nearest);
  field.optional("vectors", answer.vectors);
}

}  // namespace encore::record
