// SPDX-License-Identifier: BSD-3-Clause
// EmbedRequest is what `exp embed` asks of the worker, as JSON on its standard input. The control program
// writes it (cli/embed_verb.cpp), the worker reads it (worker/embed_verb.cpp).
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
