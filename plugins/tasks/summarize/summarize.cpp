// Measures of the pieces, then those of the texts.
#include "summarize.hpp"

#include "ngrams/text_scores.hpp"

namespace encore::summarize {

std::vector<Measure> Summarize::measures() {
  std::vector<Measure> all = ngrams::summary_measures();
  for (Measure& measure : piece_measures()) all.push_back(std::move(measure));
  return all;
}

void Summarize::add_scores(std::string_view written, std::string_view reference,
                           Statistics& statistics) const {
  ngrams::add_summary(written, reference, statistics);
}

}  // namespace encore::summarize
