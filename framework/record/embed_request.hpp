// SPDX-License-Identifier: BSD-3-Clause
// EmbedRequest: the request of `exp embed` to the worker, as JSON on the worker's standard input. Place in
// the flow: cli/embed_verb.cpp writes it -> worker/embed_verb.cpp reads it and prints vectors or neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

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

}  // namespace encore
