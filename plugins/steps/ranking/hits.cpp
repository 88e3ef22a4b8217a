// SPDX-License-Identifier: BSD-3-Clause
// The measures of rankings as data, what each record adds to them, and the line of a hit. A record without a
// relevant document adds nothing, so the means run over the others. The line has at most 80 bytes of the
// document, with blanks in place of line ends. Read hits.hpp first.
#include "hits.hpp"

#include <cstddef>
#include <cstdio>
#include <utility>

#include "ranking_measures.hpp"

namespace encore::ranking {
namespace {

constexpr std::size_t shown_bytes = 80;

/// Returns one line of at most `shown_bytes` bytes, cut between characters.
std::string beginning_of(const std::string& document) {
  std::string line = document;
  for (char& letter : line)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  if (line.size() <= shown_bytes) return line;
  std::size_t end = shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

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

std::string hit_line(const std::string& id, double score, const std::string& document) {
  char number[32];
  std::snprintf(number, sizeof number, "%.3f", score);
  return id + "  " + number + "  " + beginning_of(document);
}

}  // namespace encore::ranking
