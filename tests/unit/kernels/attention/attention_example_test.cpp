// SPDX-License-Identifier: BSD-3-Clause
// Checks the numbers and the picture of docs/concepts/attention_example.md: each block of the page below a
// comment "computed: NAME" holds what the kernels of attention compute in double for this small example.
// After a change of the example, run this program with ENCORE_WRITE_DOCUMENTS=1 to write the blocks and
// docs/pictures/positions.svg again.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include <encore/attention_weights.hpp>

#include "document/chart.hpp"
#include "document/drawing.hpp"
#include "support/places.hpp"
#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {
namespace {

const std::string page = ENCORE_SOURCE_DIR "/docs/concepts/attention_example.md";
const std::string picture = ENCORE_SOURCE_DIR "/docs/pictures/positions.svg";

/// A float64 matrix (rows, columns) on the device.
struct Matrix {
  contract::OwnedTensor tensor;

  Matrix(std::int64_t rows, std::int64_t columns, const Values& values = {})
      : tensor(DType::float64, {rows, columns}) {
    if (!values.empty()) tensor.set(values);
  }
  std::int64_t rows() const { return tensor.tensor().extent(0); }
  std::int64_t columns() const { return tensor.tensor().extent(1); }
  Values values() const {
    device().fence();
    return tensor.values();
  }
};

Matrix scaled(double factor, const Matrix& x) {
  Matrix result(x.rows(), x.columns());
  kernels::scale(device(), factor, x.tensor, result.tensor);
  return result;
}

/// Returns x (R, in) times weight^T, weight (out, in).
Matrix product_with_transposed(const Matrix& x, const Matrix& weight) {
  Matrix result(x.rows(), weight.rows());
  kernels::linear(device(), x.tensor, weight.tensor, {}, kernels::Activation::none, result.tensor);
  return result;
}

struct Attended {
  Matrix out, weights;  ///< (N, D), (N, N)
};

/// Returns softmax(q k^T / sqrt(D)) and its product with v, computed by the kernels of attention.
Attended attend(const Matrix& q, const Matrix& k, const Matrix& v, bool causal = false) {
  const RowsAt rows({q.rows()});
  const kernels::AttentionOptions options{.heads = 1, .causal = causal};
  const auto whole = [](const Matrix& x) { return kernels::Slice{x.tensor, 0, x.columns()}; };
  Attended result{Matrix(q.rows(), q.columns()), Matrix(q.rows(), q.rows())};
  contract::OwnedTensor log_sum(DType::float64, {q.rows(), 1});
  kernels::attention(device(), rows, rows, options, whole(q), whole(k), whole(v), result.out.tensor, log_sum);
  const Tensor weights = result.weights.tensor;
  kernels::attention_weights(device(), rows, rows, options, whole(q), whole(k), log_sum, 0,
                             Tensor(weights.data, weights.dtype, {1, q.rows(), q.rows()}));
  return result;
}

/// Returns the weights of attention, softmax(q k^T / sqrt(D)), (N, N).
Matrix weights_of(const Matrix& q, const Matrix& k, bool causal = false) {
  return std::move(attend(q, k, k, causal).weights);
}

/// Returns softmax(q k^T), without the division: the queries are made sqrt(D) times as long.
Matrix unscaled_weights_of(const Matrix& q, const Matrix& k) {
  return weights_of(scaled(std::sqrt(static_cast<double>(q.columns())), q), k);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.4f", std::abs(value) < 0.00005 ? 0.0 : value);
  return text;
}

/// Returns the matrix as text with `title` above the rows; with `sums`, the sum of each row follows it.
std::string shown(const std::string& title, const Matrix& x, bool sums = false) {
  std::string text = title + "\n";
  const Values values = x.values();
  for (std::int64_t n = 0; n < x.rows(); ++n) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < x.columns(); ++c) {
      const double value = values[static_cast<std::size_t>(n * x.columns() + c)];
      sum += value;
      text += number(value);
    }
    text += (sums ? "   sum" + number(sum) : "") + "\n";
  }
  return text;
}

/// Returns matrix m of the example, (4, 8), the transpose of the page's 8 x 4: entry (row i, column j) is ((3
/// i + 5 j + 2 m) mod 7 - 3) / 4.
Matrix projection(int m) {
  Values values;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 8; ++i) values.push_back(((3 * i + 5 * j + 2 * m) % 7 - 3) / 4.0);
  return Matrix(4, 8, values);
}

Matrix transposed(const Matrix& x) {
  const Values from = x.values();
  Values to;
  for (std::int64_t c = 0; c < x.columns(); ++c)
    for (std::int64_t n = 0; n < x.rows(); ++n)
      to.push_back(from[static_cast<std::size_t>(n * x.columns() + c)]);
  return Matrix(x.columns(), x.rows(), to);
}

Matrix side_by_side(const Matrix& a, const Matrix& b) {
  Values all;
  const Values left = a.values(), right = b.values();
  for (std::int64_t n = 0; n < a.rows(); ++n)
    for (const auto& [matrix, values] : {std::pair(&a, &left), std::pair(&b, &right)})
      for (std::int64_t c = 0; c < matrix->columns(); ++c)
        all.push_back((*values)[static_cast<std::size_t>(n * matrix->columns() + c)]);
  return Matrix(a.rows(), a.columns() + b.columns(), all);
}

Matrix two_words() {
  return Matrix(2, 8,
                {1, 0, 2, 0, 1, 0, 1, 0,  //
                 0, 1, 0, 1, 1, 2, 0, 1});
}

Matrix six_words() {
  return Matrix(6, 4, {1, 0, 1, 0,  //
                       0, 2, 0, 1,  //
                       1, 1, 1, 1,  //
                       2, 0, 1, 0,  //
                       0, 1, 0, 2,  //
                       1, 1, 0, 0});
}

/// Queries, keys and values of one of the two heads over the two words.
struct HeadOfTwo {
  Matrix q, k, v;

  explicit HeadOfTwo(int number)
      : q(product_with_transposed(two_words(), projection(3 * number))),
        k(product_with_transposed(two_words(), projection(3 * number + 1))),
        v(product_with_transposed(two_words(), projection(3 * number + 2))) {}
};

/// Returns the mean over rows of the largest weight, and the mean over all weights of p (1 - p), the factor
/// by which the softmax passes a gradient on.
std::string sharpness(const Matrix& weights) {
  const Values values = weights.values();
  const auto columns = static_cast<std::size_t>(weights.columns());
  double largest = 0.0, slope = 0.0;
  for (std::size_t n = 0; n < values.size(); n += columns)
    largest += *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(n),
                                 values.begin() + static_cast<std::ptrdiff_t>(n + columns));
  for (const double p : values) slope += p * (1.0 - p);
  return number(largest / static_cast<double>(weights.rows())) +
         number(slope / static_cast<double>(values.size()));
}

/// Returns the table of sharpness by head size, for 64 queries and 64 keys of independent normal components.
std::string sharpness_by_size() {
  std::string text =
      "              scaled              not scaled\n   D     largest  p (1-p)     largest  p (1-p)\n";
  for (const std::int64_t size : {4, 16, 64, 256}) {
    const Matrix q(64, size, contract::normal_values(64 * size, 1)),
        k(64, size, contract::normal_values(64 * size, 2));
    char name[8];
    std::snprintf(name, sizeof name, "%4d", static_cast<int>(size));
    text += name + std::string("   ") + sharpness(weights_of(q, k)) + "   " +
            sharpness(unscaled_weights_of(q, k)) + "\n";
  }
  return text;
}

/// Returns the text of each block of the page, by its name.
std::map<std::string, std::string> blocks() {
  std::map<std::string, std::string> blocks;
  blocks["the words"] = shown("X (2 x 8)", two_words());
  blocks["the projections of head 1"] = shown("Wq (8 x 4)", transposed(projection(0))) +
                                        shown("Wk (8 x 4)", transposed(projection(1))) +
                                        shown("Wv (8 x 4)", transposed(projection(2)));
  std::vector<Matrix> outputs;
  for (int h = 0; h < 2; ++h) {
    const HeadOfTwo head(h);
    const Matrix scores = product_with_transposed(head.q, head.k);
    outputs.push_back(std::move(attend(head.q, head.k, head.v).out));
    const std::string name = "head " + std::to_string(h + 1);
    blocks[name] = shown("Q = X Wq", head.q) + shown("K = X Wk", head.k) + shown("V = X Wv", head.v) +
                   shown("S = Q K^T", scores) + shown("S / sqrt(4)", scaled(0.5, scores)) +
                   shown("A = softmax of each row", weights_of(head.q, head.k), true) +
                   shown("A V", outputs.back());
    blocks[name + " without scaling"] =
        shown("softmax of each row of S", unscaled_weights_of(head.q, head.k), true);
  }
  blocks["both heads"] = shown("(2 x 8)", side_by_side(outputs[0], outputs[1]));

  const Matrix x = six_words();
  const Matrix scores = product_with_transposed(x, x);
  blocks["six words"] = shown("X (6 x 4)", x);
  blocks["six scores"] = shown("X X^T", scores) + shown("X X^T / sqrt(4)", scaled(0.5, scores));
  blocks["six weights"] = shown("A", weights_of(x, x), true);
  blocks["six outputs"] = shown("A X", attend(x, x, x).out);
  blocks["six causal weights"] = shown("A", weights_of(x, x, true), true);
  blocks["by head size"] = sharpness_by_size();

  Matrix positions(6, 4);
  kernels::sinusoidal_positions(device(), positions.tensor);
  blocks["positions"] = shown("PE (6 x 4)", positions);
  return blocks;
}

std::vector<std::string> numbers_below(std::int64_t end) {
  std::vector<std::string> numbers;
  for (std::int64_t i = 0; i < end; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

/// Returns the picture of the encodings of 24 positions in 32 channels as SVG.
std::string positions_picture() {
  constexpr std::int64_t positions = 24, channels = 32;
  Matrix encodings(positions, channels);
  kernels::sinusoidal_positions(device(), encodings.tensor);
  const document::HeatMapChart chart{.row_title = "position",
                                     .column_title = "channel",
                                     .value_title = "PE(position, channel), from -1 to 1",
                                     .rows = numbers_below(positions),
                                     .columns = numbers_below(channels),
                                     .panels = {{"", encodings.values()}},
                                     .below_zero = true};
  return document::svg(document::draw(chart, document::heat_map_width(chart, 16.0)),
                       "Sinusoidal encodings of " + std::to_string(positions) + " positions in " +
                           std::to_string(channels) +
                           " channels: quick waves at the left, slow ones at the right",
                       true);
}

/// Returns the page with these blocks instead of those that it has. A block of the page that is not computed,
/// or a computed block that the page lacks, fails the test.
std::string with_blocks(const std::string& text, const std::map<std::string, std::string>& blocks) {
  std::string result = text;
  for (const auto& [name, block] : blocks) {
    const std::string mark = "<!-- computed: " + name + " -->\n```text\n";
    const std::size_t begin = result.find(mark);
    EXPECT_NE(begin, std::string::npos) << "the page has no block " << mark;
    if (begin == std::string::npos) continue;
    const std::size_t first = begin + mark.size();
    result.replace(first, result.find("```", first) - first, block);
  }
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = result.find("<!-- computed: ", at)) != std::string::npos; ++at) ++marks;
  EXPECT_EQ(marks, blocks.size()) << "the page has a block that is not computed";
  return result;
}

std::string read(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Expects that the file has this content; with ENCORE_WRITE_DOCUMENTS it is written first.
void expect_current(const std::string& file, const std::string& current) {
  if (std::getenv("ENCORE_WRITE_DOCUMENTS") != nullptr) std::ofstream(file) << current;
  EXPECT_TRUE(read(file) == current) << file << " is not what the kernels compute; run this test with "
                                     << "ENCORE_WRITE_DOCUMENTS=1 and compare";
}

TEST(AttentionExamplePage, HoldsWhatTheKernelsCompute) {
  const std::string text = read(page);
  ASSERT_FALSE(text.empty()) << page;
  expect_current(page, with_blocks(text, blocks()));
}

TEST(AttentionExamplePage, ShowsPositionsThatTheKernelComputes) {
  expect_current(picture, positions_picture());
}

TEST(AttentionExamplePage, WeightsAreThoseOfTheFormula) {
  const Matrix x = six_words();
  const Values scores = product_with_transposed(x, x).values(), weights = weights_of(x, x).values();
  for (std::size_t n = 0; n < 6; ++n) {
    double whole = 0.0;
    for (std::size_t i = 0; i < 6; ++i) whole += std::exp(scores[6 * n + i] / 2.0);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(weights[6 * n + i], std::exp(scores[6 * n + i] / 2.0) / whole, 1e-15) << n << ", " << i;
  }
}

}  // namespace
}  // namespace encore::test
