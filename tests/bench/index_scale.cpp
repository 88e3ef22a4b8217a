// SPDX-License-Identifier: BSD-3-Clause
// Measures an index of many vectors (encore/document_index.hpp): documents added per second, the time to open
// it, the time of queries by vectors and by words, and the memory that stays resident. Its results are in
// docs/guides/index_documents.md; index_scale_faiss.py measures faiss on vectors that are drawn in the same
// way. The vectors are drawn: near to one of 1,000 centers, as those of real text are near to one another.
// They are kept in FOLDER/index for the next call.
//   index_scale FOLDER [--rows N] [--width N] [--queries N]
// An index that `exp index build` has made is measured as it is. A query then is made of two of its
// documents, drawn at random: the sum of both vectors, and the first five words of each.
//   index_scale INDEX [--queries N]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <encore/document_index.hpp>

namespace {

using namespace encore;
using Clock = std::chrono::steady_clock;

constexpr std::size_t centers = 1000, neighbours = 10;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns a line of /proc/self/status, such as "VmRSS", in MB.
double memory(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::atof(line.c_str() + name.size() + 1) / 1024.0;
  return 0.0;
}

/// Draws vectors near to centers.
class Drawing {
 public:
  explicit Drawing(std::size_t width) : width_(width), centers_(centers * width) {
    for (float& value : centers_) value = normal_(words_);
  }
  std::vector<double> next() {
    const float* center = centers_.data() + words_() % centers * width_;
    std::vector<double> vector(width_);
    for (std::size_t i = 0; i < width_; ++i) vector[i] = double{center[i]} + double{normal_(words_)};
    return vector;
  }

 private:
  std::size_t width_;
  std::mt19937_64 words_{1};
  std::normal_distribution<float> normal_;
  std::vector<float> centers_;
};

void print(const char* what, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return 1e3 * seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  std::printf("%-10s %zu queries   p50 %.1f ms   p95 %.1f ms   max %.1f ms\n", what, seconds.size(), at(0.5),
              at(0.95), at(1.0));
}

void build(const std::string& folder, std::size_t rows, Drawing& drawing) {
  DocumentIndexWriter writer(folder, {});
  double seconds = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    char id[24];
    std::snprintf(id, sizeof id, "d%09zu", row);
    const std::vector<double> vector = drawing.next();
    const std::string text = "document of center w" + std::to_string(row % 5000) + " with word v" +
                             std::to_string(row % 977) + " and number n" + std::to_string(row);
    const auto begin = Clock::now();
    writer.add({.id = id, .text = text}, vector);
    seconds += seconds_since(begin);
  }
  const auto begin = Clock::now();
  writer.commit();
  const double completed = seconds_since(begin);
  std::printf("built      %zu documents in %.1f s, of which completing took %.1f s: %.0f a second\n", rows,
              seconds + completed, completed, static_cast<double>(rows) / (seconds + completed));
}

/// Returns the first words of a document.
std::string words_of(const DocumentIndex& index, std::size_t position, std::size_t count) {
  std::istringstream text(index.text(position));
  std::string words;
  for (std::string word; count > 0 && text >> word; --count) words += word + " ";
  return words;
}

struct Query {
  std::vector<double> vector;
  std::string words;
};

/// Returns a query of two documents that are drawn at random.
Query query_of(const DocumentIndex& index, std::mt19937_64& random) {
  Query query{.vector = std::vector<double>(index.width()), .words = {}};
  for (int i = 0; i < 2; ++i) {
    const std::size_t position = random() % index.size();
    const std::vector<float> vector = index.vector(index.first_passage(position));
    for (std::size_t c = 0; c < vector.size(); ++c) query.vector[c] += double{vector[c]};
    query.words += words_of(index, position, 5);
  }
  return query;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fprintf(stderr, "index_scale FOLDER [--rows N] [--width N] [--queries N]\n"), 2;
  std::size_t rows = 1'000'000, width = 384, queries = 200;
  for (int i = 2; i + 1 < count; i += 2) {
    const auto value = static_cast<std::size_t>(std::atoll(arguments[i + 1]));
    if (std::strcmp(arguments[i], "--rows") == 0) rows = value;
    if (std::strcmp(arguments[i], "--width") == 0) width = value;
    if (std::strcmp(arguments[i], "--queries") == 0) queries = value;
  }
  const bool is_index = std::filesystem::exists(std::filesystem::path(arguments[1]) / "index.json");
  const std::string folder = is_index ? arguments[1] : std::string(arguments[1]) + "/index";
  Drawing drawing(width);
  if (!std::filesystem::exists(folder)) build(folder, rows, drawing);
  const double before = memory("RssFile") + memory("RssAnon");
  auto begin = Clock::now();
  const DocumentIndex index(folder);
  std::printf("opened     %zu documents in %.1f s\n", index.size(), seconds_since(begin));
  std::mt19937_64 random(1);
  std::vector<double> by_vectors, by_words;
  for (std::size_t i = 0; i < queries; ++i) {
    const Query query = is_index ? query_of(index, random)
                                 : Query{.vector = drawing.next(),
                                         .words = "w" + std::to_string(i) + " v" + std::to_string(i)};
    begin = Clock::now();
    const bool found =
        index.find_nearest(query.vector, neighbours).size() == std::min(index.size(), neighbours);
    by_vectors.push_back(seconds_since(begin));
    if (!found) return std::fprintf(stderr, "a query found too few documents\n"), 1;
    begin = Clock::now();
    index.find_words(query.words, neighbours);
    by_words.push_back(seconds_since(begin));
  }
  print("vectors", by_vectors);
  print("words", by_words);
  const double codes = static_cast<double>(index.passage_count() * index.width()) / (1024.0 * 1024.0);
  const double resident = memory("RssFile") + memory("RssAnon") - before;
  std::printf("resident   %.0f MB more than before opening, %.2f times the 8-bit vectors (%.0f MB)\n",
              resident, resident / codes, codes);
}
