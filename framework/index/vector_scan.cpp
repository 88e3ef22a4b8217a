// SPDX-License-Identifier: BSD-3-Clause
// The scan of 8-bit copies and the second scoring. Place in the flow: document_index.cpp -> here ->
// run_parts.
//
// The query q is written as q' = step * d with 16-bit integers d, a row v as v' = scale * c with 8-bit codes
// c. The integer product d . c is exact, and by the inequality of Cauchy and Schwarz
//   |q . v - q' . v'| = |(q - q') . v + q' . (v - v')| <= |q - q'| |v| + |q'| |v - v'|.
// With a bound for each row, the k-th largest lower end is at most the k-th largest product, so a row whose
// upper end lies below it does not belong to the k nearest. For documents of several rows the same holds with
// the largest lower end of each document. Products of two floats are exact in double, so a
// fused multiply-add gives the same bits as two operations. Read vector_scan.hpp first.
#include "index/vector_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/parallel.hpp"

namespace encore::index {
namespace {

constexpr double largest_code = 127.0;
constexpr std::size_t rows_at_once = 16384;
/// The length of a stored vector exceeds 1 only by the rounding of its values to float32.
constexpr double longest_row = 1.0 + 1e-6;
/// Rounding of a few operations in double.
constexpr double above = 1.0 + 1e-12;

/// The query as integers.
struct CodedQuery {
  std::vector<std::int16_t> codes;
  double step = 0.0;
  double length = 0.0;    ///< of step * codes
  double residual = 0.0;  ///< length of the query minus step * codes
};

CodedQuery coded(std::span<const float> query) {
  CodedQuery result{.codes = std::vector<std::int16_t>(query.size())};
  double largest = 0.0;
  for (const float value : query) largest = std::max(largest, std::abs(double{value}));
  if (largest == 0.0) return result;
  // The sum of width products fits 32 bits, also with the code -128, which quantize() does not write.
  const double most =
      std::min(32767.0, std::floor(std::numeric_limits<std::int32_t>::max() /
                                   ((largest_code + 1.0) * static_cast<double>(query.size()))));
  result.step = largest / most;
  double squares = 0.0, rests = 0.0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    const double code = std::clamp(std::round(query[i] / result.step), -most, most);
    result.codes[i] = static_cast<std::int16_t>(code);
    const double value = code * result.step, rest = query[i] - value;
    squares += value * value;
    rests += rest * rest;
  }
  result.length = std::sqrt(squares) * above;
  result.residual = std::sqrt(rests) * above;
  return result;
}

/// products[r] = sum over i of codes[r * width + i] * query[i]
using RowProducts = void (*)(const std::int8_t* codes, const std::int16_t* query, std::size_t rows,
                             std::size_t width, std::int32_t* products);

void portable_products(const std::int8_t* codes, const std::int16_t* query, std::size_t rows,
                       std::size_t width, std::int32_t* products) {
  for (std::size_t row = 0; row < rows; ++row, codes += width) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += std::int32_t{codes[i]} * std::int32_t{query[i]};
    products[row] = sum;
  }
}

#if defined(__x86_64__)
/// The same with 16 products at once. A build for any processor vectorizes the loop above for SSE2 only.
__attribute__((target("avx2"))) void avx2_products(const std::int8_t* codes, const std::int16_t* query,
                                                   std::size_t rows, std::size_t width,
                                                   std::int32_t* products) {
  constexpr std::size_t lanes = 16;
  const std::size_t whole = width - width % lanes;
  for (std::size_t row = 0; row < rows; ++row, codes += width) {
    __m256i sums = _mm256_setzero_si256();
    for (std::size_t i = 0; i < whole; i += lanes) {
      const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i)));
      const __m256i others = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query + i));
      sums = _mm256_add_epi32(sums, _mm256_madd_epi16(wide, others));
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    std::int32_t sum = _mm_cvtsi128_si32(half);
    for (std::size_t i = whole; i < width; ++i) sum += std::int32_t{codes[i]} * std::int32_t{query[i]};
    products[row] = sum;
  }
}
#endif

RowProducts row_products() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2_products;
#endif
  return portable_products;
}

/// The ends of the range in which the product of a row lies.
class Bounds {
 public:
  Bounds(const ScannedVectors& vectors, const CodedQuery& query, double factor)
      : vectors_(vectors),
        step_(query.step),
        length_(query.length * factor),
        // The rest of the query, and the rounding of sums in double of `width` products below 1.
        fixed_((query.residual * longest_row +
                (static_cast<double>(vectors.width) + 8.0) * std::numeric_limits<double>::epsilon()) *
               factor) {}

  double lower(std::size_t row, std::int32_t product) const { return middle(row, product) - error(row); }
  double upper(std::size_t row, std::int32_t product) const { return middle(row, product) + error(row); }

 private:
  double middle(std::size_t row, std::int32_t product) const {
    return step_ * double{vectors_.scales[row]} * static_cast<double>(product);
  }
  double error(std::size_t row) const { return length_ * double{vectors_.residuals[row]} + fixed_; }

  const ScannedVectors& vectors_;
  double step_, length_, fixed_;
};

double exact_product(std::span<const float> row, std::span<const float> query) {
  double sum = 0.0;
  for (std::size_t i = 0; i < query.size(); ++i) sum += double{row[i]} * double{query[i]};
  return sum;
}

/// Keeps the largest `depth` numbers.
class Largest {
 public:
  explicit Largest(std::size_t depth) : depth_(depth) {}
  void add(double value) {
    if (numbers_.size() == depth_) {
      if (value <= numbers_.front()) return;
      std::ranges::pop_heap(numbers_, std::greater<>());
      numbers_.back() = value;
    } else {
      numbers_.push_back(value);
    }
    std::ranges::push_heap(numbers_, std::greater<>());
  }
  const std::vector<double>& numbers() const { return numbers_; }
  /// Returns the smallest of them; minus infinity if there are fewer than `depth`.
  double smallest() const {
    return numbers_.size() < depth_ ? -std::numeric_limits<double>::infinity() : numbers_.front();
  }

 private:
  std::size_t depth_;
  std::vector<double> numbers_;
};

/// Adds the largest lower end of each document.
void add_documents(std::span<const std::uint32_t> documents, const std::vector<std::int32_t>& products,
                   const Bounds& bounds, Largest& lower_ends) {
  for (std::size_t row = 0; row < documents.size();) {
    const std::uint32_t document = documents[row];
    double largest = -std::numeric_limits<double>::infinity();
    for (; row < documents.size() && documents[row] == document; ++row)
      largest = std::max(largest, bounds.lower(row, products[row]));
    lower_ends.add(largest);
  }
}

/// Keeps the first hit of each document.
void keep_first_rows(std::span<const std::uint32_t> documents, std::vector<IndexHit>& hits) {
  std::unordered_set<std::uint32_t> seen;
  std::erase_if(hits, [&](const IndexHit& hit) { return !seen.insert(documents[hit.position]).second; });
}

}  // namespace

RowQuantization quantize(std::span<const float> vector, std::span<std::int8_t> codes) {
  ENCORE_REQUIRE(vector.size() == codes.size(), "a value has a code");
  float largest = 0.0F;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  RowQuantization result{.scale = largest / static_cast<float>(largest_code)};
  const double scale = double{result.scale}, inverse = scale > 0.0 ? 1.0 / scale : 0.0;
  double rests = 0.0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double exact = double{vector[i]} * inverse;
    const double rounded = std::clamp(exact + (exact < 0.0 ? -0.5 : 0.5), -largest_code, largest_code);
    codes[i] = static_cast<std::int8_t>(rounded);  // towards 0; std::round would be a call for each value
    const double rest = double{vector[i]} - static_cast<double>(codes[i]) * scale;
    rests += rest * rest;
  }
  result.residual =
      std::nextafter(static_cast<float>(std::sqrt(rests) * above), std::numeric_limits<float>::infinity());
  return result;
}

std::vector<IndexHit> find_nearest_rows(const ScannedVectors& vectors, std::span<const float> query,
                                        std::size_t depth, int threads, double bound_factor) {
  ENCORE_REQUIRE(query.size() == vectors.width && vectors.width <= most_width,
                 "the query has the width of the rows");
  const std::size_t rows = vectors.rows(), width = vectors.width;
  if (rows == 0 || depth == 0) return {};
  const CodedQuery coded_query = coded(query);
  const Bounds bounds(vectors, coded_query, bound_factor);
  const RowProducts compute = row_products();
  const auto parts = static_cast<std::int64_t>((rows + rows_at_once - 1) / rows_at_once);
  const auto end_of = [&](std::size_t first) { return std::min(rows, first + rows_at_once); };

  std::vector<std::int32_t> products(rows);
  const bool has_documents = !vectors.documents.empty();
  std::vector<Largest> of_parts(static_cast<std::size_t>(parts), Largest(depth));
  run_parts(parts, threads, [&](std::int64_t part) {
    const std::size_t first = static_cast<std::size_t>(part) * rows_at_once, end = end_of(first);
    compute(vectors.codes.data() + first * width, coded_query.codes.data(), end - first, width,
            products.data() + first);
    if (has_documents) return;
    Largest& largest = of_parts[static_cast<std::size_t>(part)];
    for (std::size_t row = first; row < end; ++row) largest.add(bounds.lower(row, products[row]));
  });
  Largest lower_ends(depth);
  for (const Largest& of_part : of_parts)
    for (const double number : of_part.numbers()) lower_ends.add(number);
  // Not in parts, because rows of one document may lie in two of them.
  if (has_documents) add_documents(vectors.documents, products, bounds, lower_ends);
  const double threshold = lower_ends.smallest();

  std::vector<std::vector<IndexHit>> hits_of_parts(static_cast<std::size_t>(parts));
  run_parts(parts, threads, [&](std::int64_t part) {
    const std::size_t first = static_cast<std::size_t>(part) * rows_at_once, end = end_of(first);
    std::vector<IndexHit>& hits = hits_of_parts[static_cast<std::size_t>(part)];
    std::vector<float> values(width);
    for (std::size_t row = first; row < end; ++row) {
      if (bounds.upper(row, products[row]) < threshold) continue;
      vectors.read_row(row, values);
      const double score = exact_product(values, query);
      if (!std::isfinite(score))  // of a file that was forged; it has no place in an order
        throw Error("vector " + std::to_string(row) +
                    " of the index has a value that is not a finite number");
      hits.push_back({.position = row, .score = score});
    }
  });
  std::vector<IndexHit> hits;
  for (const std::vector<IndexHit>& of_part : hits_of_parts)
    hits.insert(hits.end(), of_part.begin(), of_part.end());
  std::ranges::sort(hits, [](const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  });
  if (has_documents) keep_first_rows(vectors.documents, hits);
  hits.resize(std::min(depth, hits.size()));
  return hits;
}

}  // namespace encore::index
