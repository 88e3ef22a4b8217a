// EmbedRequest: what `exp embed` asks of the worker, as JSON on its standard input. The control program
// writes it (cli/embed_verb.cpp), the worker reads it (worker/embed_verb.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

struct EmbedRequest {
  enum class Of : std::uint8_t {
    texts,    ///< vectors of the queries, or which of `texts` are nearest to each
    words,    ///< which words of the vocabulary are nearest to each query
    analogy,  ///< which words are to the third query as the first is to the second
  };

  Of of = Of::texts;
  std::vector<std::string> queries;
  std::vector<std::string> texts = {};
  std::size_t count = 0;  ///< of neighbours; 0: no neighbours, vectors

  bool asks_for_vectors() const { return of == Of::texts && count == 0; }
  std::string text() const;
  /// Throws Error when it is none.
  static EmbedRequest parse(const std::string& text);
};

}  // namespace encore
