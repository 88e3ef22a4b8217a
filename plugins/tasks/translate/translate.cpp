// Measures of the pieces, then those of the texts.
#include "translate.hpp"

#include "ngrams/text_scores.hpp"

namespace encore::translate {

std::vector<Measure> Translate::measures() {
  std::vector<Measure> all = ngrams::translation_measures();
  for (Measure& measure : piece_measures()) all.push_back(std::move(measure));
  return all;
}

void Translate::add_scores(std::string_view written, std::string_view reference,
                           Statistics& statistics) const {
  ngrams::add_translation(written, reference, statistics);
}

}  // namespace encore::translate
