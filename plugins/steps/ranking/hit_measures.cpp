// SPDX-License-Identifier: BSD-3-Clause
// The measures of rankings as data, and what each record adds to them. A record without a relevant document
// adds nothing, so the means run over the others. Read hit_measures.hpp first.
#include "hit_measures.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "judged_documents.hpp"
#include "ranking_measures.hpp"

namespace encore::ranking {

std::vector<Measure> hit_measures() {
  const auto mean_of = [](std::string name, std::string title, std::string help) {
    std::string column = name;
    return Measure{.name = std::move(name),
                   .title = std::move(title),
                   .help = std::move(help),
                   .fraction = true,
                   .reducer = Reducer::ratio,
                   .columns = {std::move(column), "queries"}};
  };
  return {mean_of("ndcg10", "nDCG@10",
                  "normalized discounted cumulative gain of the first 10 documents, a mean over queries that "
                  "have a relevant document"),
          mean_of("mrr", "MRR",
                  "mean of 1 / rank of the first relevant document, or of 0 if an answer names none"),
          mean_of("recall", "recall", "share of the relevant documents that an answer names"),
          mean_of("map", "MAP", "mean of the average precision of the documents that an answer names")};
}

void measure_hits(const Records::TextLists& labels, const Records::TextLists& hits, Statistics& statistics) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    statistics.begin_example();
    const Grades grades = grades_in(labels[i]);
    if (count_relevant(grades) == 0) continue;
    const std::vector<std::string>& ranking = hits[i];
    statistics.add("queries", 1.0);
    statistics.add("ndcg10", ndcg(ranking, grades, measured_depth));
    statistics.add("mrr", reciprocal_rank(ranking, grades));
    statistics.add("recall", recall(ranking, grades, ranking.size()));
    statistics.add("map", average_precision(ranking, grades));
  }
}

}  // namespace encore::ranking
