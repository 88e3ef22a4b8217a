// SPDX-License-Identifier: BSD-3-Clause
// The operations from which layers and heads are built, implemented in framework/kernels. Each takes the
// device, then Tensors by their place in the formula (letters of shapes: shape.hpp). "+=" marks what is added
// to; all else is overwritten. Activations and weights are float32, float64, bfloat16 or float16; statistics,
// losses, biases, gains, tables and parameter gradients have the type of sums: float64 with float64
// activations, else float32. Sums have a fixed order, which must stay. No kernel uses atomics, or allocates
// memory for a known shape. The header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION
// (plugin.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include <encore/distillation.hpp>
#include <encore/layer.hpp>
#include <encore/optimizer.hpp>

namespace encore::kernels {

enum class Transpose : std::uint8_t { no, yes };
/// gelu: x * Phi(x), with erf (Hendrycks and Gimpel 2016); sigmoid: 1 / (1 + e^-x); silu: x * sigmoid(x) (Elfwing et
/// al. 2018).
enum class Activation : std::uint8_t { none, relu, gelu, tanh, silu, sigmoid };
/// Returns whether activation_backward reads the activation's output instead of its input.
constexpr bool derivative_reads_output(Activation function) {
  return function == Activation::relu || function == Activation::tanh || function == Activation::sigmoid;
}

/// Columns [first, first + width) of a matrix: so queries, keys and values lie in one packed tensor.
struct Slice {
  Tensor matrix;
  std::int64_t first = 0;
  std::int64_t width = 0;

  /// Not explicit: a whole matrix is a slice.
  Slice(const std::convertible_to<Tensor> auto& whole) : matrix(whole), width(matrix.extent(1)) {}
  Slice(Tensor of, std::int64_t first_column, std::int64_t columns)
      : matrix(of), first(first_column), width(columns) {}
};

/// c (M, N) = op(a) (M, K) op(b) (K, N), or c += with `accumulate`. Outside of training, in a model with a
/// causal stack, products are batch-invariant on the host, those of linear too: the bits of a row of c do not
/// depend on the other rows.
void gemm(const Device& device, Tensor a, Transpose transpose_a, Tensor b, Transpose transpose_b, Tensor c,
          bool accumulate = false);

/// y (R, out) = activation(x (R, in) weight^T (out, in) + bias (out)); `bias` may be an empty Tensor.
void linear(const Device& device, Tensor x, Tensor weight, Tensor bias, Activation activation, Tensor y);
/// dx (R, in) = dy (R, out) weight (out, in).
void linear_backward_input(const Device& device, Tensor dy, Tensor weight, Tensor dx);
/// dx = dy weight * activation'(saved (R, in)), where x was activation(...). The bits are those of
/// linear_backward_input followed by activation_backward, without a second pass. `saved` is as in
/// activation_backward, and not dx; with Activation::none it is ignored.
void linear_backward_input(const Device& device, Tensor dy, Tensor weight, Tensor dx, Activation activation,
                           Tensor saved);
/// dweight (out, in) += dy^T x; dbias (out) += column sums of dy (empty: none), made while the product reads dy.
/// 64 rows are added first, then these sums in order.
void linear_backward_parameters(const Device& device, Tensor dy, Tensor x, Tensor dweight, Tensor dbias);

/// y = activation(x), elementwise.
void activation(const Device& device, Activation function, Tensor x, Tensor y);
/// dx = dy * activation'(saved). `saved` is the activation's OUTPUT for relu, tanh and sigmoid and its INPUT for gelu
/// and silu. dx may be dy.
void activation_backward(const Device& device, Activation function, Tensor saved, Tensor dy, Tensor dx);

/// y (N, C) = gain * (x - mean) * rstd + bias, over each row; mean and rstd: (N), kept for backward (Ba et al. 2016).
/// x (N, C) is a tensor or a sum, which is added up in the same pass and left in x.branch.
void layer_norm(const Device& device, const ResidualSum& x, Tensor gain, Tensor bias, double epsilon,
                Tensor y, Tensor mean, Tensor rstd);
/// dx (N, C), or the gradients of both parts of a sum; dgain (C) +=, dbias (C) +=. x: the tensor, or the sum as it was
/// left.
void layer_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd, Tensor dy,
                         const ResidualSum& dx, Tensor dgain, Tensor dbias);

/// The function that opens a gate: gelu, silu, sigmoid (Dauphin et al. 2017), relu, tanh, or gelu with tanh
/// in place of erf.
enum class Gate : std::uint8_t { geglu, swiglu, glu, reglu, tanh_glu, geglu_tanh };
/// y (N, F) = f(gate) * up; x (N, 2 F): a row holds gate, then up (Shazeer 2020).
void gate(const Device& device, Gate function, Tensor x, Tensor y);
/// dx (N, 2 F) from dy (N, F).
void gate_backward(const Device& device, Gate function, Tensor x, Tensor dy, Tensor dx);

/// y (N, C) = gain * x * rrms over each row, rrms = 1 / sqrt(mean(x^2) + epsilon): (N), kept for backward
/// (Zhang and Sennrich 2019). x: as in layer_norm.
void rms_norm(const Device& device, const ResidualSum& x, Tensor gain, double epsilon, Tensor y, Tensor rrms);
/// dx (N, C): as in layer_norm_backward; dgain (C) +=.
void rms_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                       const ResidualSum& dx, Tensor dgain);

struct AttentionOptions {
  std::int64_t heads = 1;
  double dropout = 0.0;  ///< on the attention weights; applied when `training`
  bool training = false;
  RandomKey key = {};  ///< drawn at (example, query position, head and key position)
  /// Adds -slope |i - j| to the score of query i and key j (Press et al. 2022). Head h = 1 .. H has slope
  /// 2^(-8 h / P) with P the largest power of two in H; the heads beyond P take every other slope of 2 P
  /// heads.
  bool alibi = false;
  std::int64_t window = 0;  ///< keys with |i - j| <= window only (Beltagy et al. 2020); 0: all keys
  bool causal = false;      ///< keys with j <= i only
  /// Beside the keys of the window, which must be given, those with i - j a multiple of the stride (the strided pattern
  /// of Child et al. 2019); 0: none. Keys that are not seen cost nothing.
  std::int64_t stride = 0;
  bool scaled = true;  ///< scores times D^-0.5
  /// (H, 2 M) in the type of sums: adds bias[h][M + j - i] to the score of query i and key j, which are fewer than M
  /// positions apart (distance_bias). Empty: adds nothing; with a stride it must be.
  Tensor bias = {};
};
/// Softmax attention (Vaswani et al. 2017): the queries of a sequence over the keys of the sequence with the
/// same number. Both row sets have B sequences; self-attention gives the same one twice. i and j are
/// positions, from 0 at the first key of the sequence: rows of one sequence stand at consecutive positions,
/// so a query that comes behind t rows whose keys are there already (incremental decoding) has position t in
/// queries.positions. q, out: (N2, C), k, v: (N, C), by head; log_sum: (N2, H), kept for backward. A query
/// that sees no key gets zeros. On the host the bits of an output row do not depend on the other rows of
/// queries, nor, under a causal mask, on later keys: decoding row by row repeats the bits of the whole pass.
void attention(const Device& device, const RowSet& queries, const RowSet& keys, const AttentionOptions& options,
               const Slice& q, const Slice& k, const Slice& v, Tensor out, Tensor log_sum);
/// dq, dk, dv from dout (N2, C); the weights are computed again from q, k and log_sum. With a bias, of self-attention
/// whose rows begin at position 0, dbias (N, 2 H) in the type of sums: the gradients of a sequence of T rows stand in
/// those rows, (H, 2 T), that of distance j - i at T + j - i.
void attention_backward(const Device& device, const RowSet& queries, const RowSet& keys,
                        const AttentionOptions& options, const Slice& q, const Slice& k, const Slice& v, Tensor out,
                        Tensor log_sum, Tensor dout, const Slice& dq, const Slice& dk, const Slice& dv,
                        Tensor dbias = {});

/// Buckets of the distances j - i between key and query (Raffel et al. 2020, and the program of its authors). Half of
/// them are for keys behind the query; under a causal mask all are for those before it. In either direction the first
/// half hold one distance each, 0, 1, 2 ..., the others ranges that grow with the logarithm up to `farthest`, and the
/// last also all beyond it.
struct DistanceBuckets {
  std::int64_t count = 32;  ///< R, 4 to 256
  std::int64_t farthest = 128;
  bool causal = false;
};
/// Returns the bucket, 0 to R - 1, of a distance, computed in float as in the programs that trained the
/// models that are loaded. A distance that a causal mask hides has bucket 0.
std::int64_t bucket_of(const DistanceBuckets& buckets, std::int64_t distance);
/// bias (H, 2 M), as AttentionOptions takes it, from table (R, H).
void distance_bias(const Device& device, const DistanceBuckets& buckets, Tensor table, Tensor bias);
/// dtable (R, H) += the gradients of the distances in a bucket, sequence by sequence, from dbias (N, 2 H) of
/// attention_backward.
void distance_bias_backward(const Device& device, const RowSet& rows, const DistanceBuckets& buckets, Tensor dbias,
                            Tensor dtable);
/// Linear attention of each sequence over itself (Katharopoulos et al. 2020): per head
///   out_i = f(q_i) S / (f(q_i) z + 1e-6),  S (D, D) = sum_j f(k_j)^T v_j,  z (D) = sum_j f(k_j),  f(x) = elu(x) + 1.
/// q, k, v, out: (N, C), C = heads * D. In the type of sums, kept for backward: features (N, 2 C), f(q) and f(k);
/// sums (B, C (D + 1)), of each head D rows of S with an element of z behind; norms (N, H), the divisors.
void linear_attention(const Device& device, const RowSet& rows, std::int64_t heads, const Slice& q, const Slice& k,
                      const Slice& v, Tensor features, Tensor sums, Tensor norms, Tensor out);
/// dq, dk, dv from dout (N, C). dsums and dnorms, shaped like sums and norms, are overwritten with their gradients.
void linear_attention_backward(const Device& device, const RowSet& rows, std::int64_t heads, const Slice& q,
                               const Slice& k, const Slice& v, Tensor features, Tensor sums, Tensor norms, Tensor out,
                               Tensor dout, Tensor dsums, Tensor dnorms, const Slice& dq, const Slice& dk,
                               const Slice& dv);

/// Disentangled attention of each sequence over itself (He et al. 2021, section 3.1): softmax attention with the scores
///   (q_i k_j + q_i kr_d + k_j qr_d) / sqrt(3 D),  d = min(max(i - j + R, 0), 2 R - 1),
/// content to content, content to position, position to content; qr, kr (2 R, C): queries and keys made of the vectors
/// of distances. One d for both, as in the authors' program; equation 4 of the paper has that of j - i for qr.
/// weights (sum of T * T, H), in the type of sums, kept for backward: of each sequence and head (T, T).
/// Heads, dropout and causal of the options count.
void disentangled_attention(const Device& device, const RowSet& rows, const AttentionOptions& options, const Slice& q,
                            const Slice& k, const Slice& v, Tensor qr, Tensor kr, Tensor weights, Tensor out);
/// dq, dk, dv (N, C), dqr, dkr (2 R, C) from dout (N, C). dscores, shaped like weights, is overwritten with the gradients
/// of the scores, and weights with those that dropout kept.
void disentangled_attention_backward(const Device& device, const RowSet& rows, const AttentionOptions& options,
                                     const Slice& q, const Slice& k, const Slice& v, Tensor qr, Tensor kr,
                                     Tensor weights, Tensor out, Tensor dout, Tensor dscores, const Slice& dq,
                                     const Slice& dk, const Slice& dv, Tensor dqr, Tensor dkr);
/// Turns x (N, heads * D) in place (Su et al. 2021): in each head channels d and d + D / 2 are a pair, turned by
/// position * base^(-2 d / D). Queries and keys that lie side by side are twice as many heads. `inverse` turns back,
/// which is the backward of turning.
void rotary(const Device& device, const RowSet& rows, std::int64_t heads, double base, bool inverse,
            const Slice& x);

/// y (N, C) = keep(x) / (1 - probability), drawn at (example, position, channel); also its own backward. y may be x.
void dropout(const Device& device, const RowSet& rows, RandomKey key, double probability, Tensor x, Tensor y);
/// Dropout of some rows of `rows`: row m of x (M, C) is drawn as row picked[m]; picked: (M) int32.
void dropout(const Device& device, const RowSet& rows, Tensor picked, RandomKey key, double probability, Tensor x,
             Tensor y);
/// y = residual + dropout(x). With probability 0 a plain sum. y may be x or residual.
void dropout_add(const Device& device, const RowSet& rows, RandomKey key, double probability, Tensor x,
                 Tensor residual, Tensor y);

/// y (N, C) = scale * table[ids] + positions_table[position]; table: (V, C), positions_table: (max length, C).
void embedding(const Device& device, const RowSet& rows, Tensor table, double scale, Tensor positions_table,
               Tensor y);
/// y as above, plus segments_table[segment], (S, C) (Devlin et al. 2019). The host checks that segments are
/// below S.
void embedding(const Device& device, const RowSet& rows, Tensor table, double scale, Tensor positions_table,
               Tensor segments_table, Tensor y);
/// dtable (V, C) += scale * the rows of dy with that token, summed in row order.
void embedding_backward(const Device& device, const RowSet& rows, Tensor dy, double scale, Tensor dtable);
/// dpositions (max length, C) += the rows of dy at that position, summed in the order of the sequences.
void positions_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dpositions);
/// dsegments (S, C) += the rows of dy of that segment: 64 rows are added first, then these sums in order.
void segments_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dsegments);
/// table (max length, C): sine at even, cosine at odd channels (Vaswani et al. 2017, section 3.5). C must be even.
void sinusoidal_positions(const Device& device, Tensor table);

/// losses (N): -sum_k q_k log softmax(logits)_k with q = (1 - smoothing) [k = target] + smoothing / K; 0
/// without a target. logits: (N, K); targets: (N) int32.
void softmax_cross_entropy(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                           Tensor losses);
/// Computes the same losses, and keeps what normalizes each row in normalizers (N, 2), of the type of losses;
/// an empty Tensor keeps nothing.
void softmax_cross_entropy(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                           Tensor losses, Tensor normalizers);
/// dlogits (N, K) = scale * (softmax(logits) - q); 0 on rows without a target. dlogits may be logits.
void softmax_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets,
                                    double label_smoothing, double scale, Tensor dlogits);
/// Computes the same bits in half the time from the normalizers that softmax_cross_entropy kept for these
/// logits.
void softmax_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets,
                                    double label_smoothing, double scale, Tensor normalizers, Tensor dlogits);
/// losses (N): hard_weight * softmax_cross_entropy + (1 - hard_weight) * T^2 * sum_k p_k log(p_k / softmax(logits / T)_k)
/// with p = softmax(teacher / T); 0 without a target. logits, teacher: (N, K), of any types; targets: (N) int32. What the
/// gradient needs of each row is kept in normalizers (N, 5), of the type of losses.
void distillation_loss(const Device& device, Tensor logits, Tensor teacher, Tensor targets, double label_smoothing,
                       const Distillation& distillation, Tensor losses, Tensor normalizers);
/// dlogits (N, K) = scale * the derivative by the logits, with the normalizers of distillation_loss; 0 on rows without a
/// target. dlogits may be logits.
void distillation_loss_backward(const Device& device, Tensor logits, Tensor teacher, Tensor targets,
                                double label_smoothing, const Distillation& distillation, double scale,
                                Tensor normalizers, Tensor dlogits);
/// losses (N): the mean over k of max(z, 0) - z t + log(1 + e^-|z|), the binary cross-entropy of sigmoid(z) with the
/// target t in [0, 1]; 0 where `known` is negative. logits z: (N, K); targets t: (N, K) float32; known: (N) int32.
void binary_cross_entropy(const Device& device, Tensor logits, Tensor targets, Tensor known, Tensor losses);
/// dlogits (N, K) = scale / K * (sigmoid(z) - t); 0 on rows that are not known. dlogits may be logits.
void binary_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets, Tensor known, double scale,
                                   Tensor dlogits);
/// y (N, K) float32 = 1 / (1 + e^-x).
void sigmoid(const Device& device, Tensor x, Tensor y);
/// losses (N): the mean over k of (x - t)^2; arguments as of binary_cross_entropy.
void squared_error(const Device& device, Tensor x, Tensor targets, Tensor known, Tensor losses);
/// dx (N, K) = scale / K * 2 (x - t); 0 on rows that are not known. dx may be x.
void squared_error_backward(const Device& device, Tensor x, Tensor targets, Tensor known, double scale, Tensor dx);
/// losses (B): half of -log softmax(logits_0)[start] - log softmax(logits_1)[end], each softmax over the rows of one
/// sequence; a row outside of its sequence adds 0. logits: (N, 2); starts, ends: (B) int32, counted within the sequence.
void span_cross_entropy(const Device& device, const RowSet& rows, Tensor logits, Tensor starts, Tensor ends,
                        Tensor losses);
/// dlogits (N, 2) = scale / 2 * (softmax - [row = start, or end]); 0 where the row lies outside. dlogits may be logits.
void span_cross_entropy_backward(const Device& device, const RowSet& rows, Tensor logits, Tensor starts, Tensor ends,
                                 double scale, Tensor dlogits);
/// predictions (N) int32: the first channel with the largest logit.
void argmax(const Device& device, Tensor logits, Tensor predictions);
/// The k largest values of each row of x (N, C), in descending order; of equal values the channel with the
/// smaller number comes first. channels (N, k) int32, values (N, k), k from 1 to 64 and at most C; log_sums
/// (N): log sum_c e^x_c. values and log_sums have the type of sums. Rows with values that are not numbers get
/// any channels.
void largest_channels(const Device& device, Tensor x, Tensor channels, Tensor values, Tensor log_sums);

/// result: device memory, one double: the sum of all elements in a fixed order, in double.
void sum(const Device& device, Tensor x, double* result);
/// result: device memory, one double: the sum of squares in a fixed order, in double.
void sum_of_squares(const Device& device, Tensor x, double* result);
/// result: the sum of squares of blocks.gradients, summed by chunks. Chunks without a gradient are not read
/// and add 0.
void sum_of_squares(const Device& device, const Blocks& blocks, double* result);
/// scale: device memory, one double: the factor for gradients that are `factor` times too large and have the
/// sum of squares *squares. Scaled by it they have the norm min(norm, limit), or their own norm if limit is
/// 0.
void clip_scale(const Device& device, const double* squares, double limit, double factor, double* scale);
/// Number of elements that are not finite, read back to the host (waits for the device).
std::int64_t count_not_finite(const Device& device, Tensor x);

/// y += x.
void add(const Device& device, Tensor x, Tensor y);
/// y = x, converting between floating-point types.
void copy(const Device& device, Tensor x, Tensor y);
/// y = factor * x, of one type. y may be x.
void scale(const Device& device, double factor, Tensor x, Tensor y);
/// Row n of x (N) or (N, C) *= factors[n]; factors: (N) float32.
void scale_rows(const Device& device, Tensor factors, Tensor x);
/// Row n of x (N, C), at position i of its sequence, becomes row i of that sequence in y (R, C), the rows of
/// `cache`: keys and values that later queries see (Step::cache). The other rows of y stay as they are.
void append_rows(const Device& device, const RowSet& rows, const Slice& x, const RowSet& cache, Tensor y);
/// y (B, C) = the mean of each sequence's rows of x (N, C), summed in their order; 0 where it has none. y is
/// in the type of sums.
void mean_rows(const Device& device, const RowSet& rows, Tensor x, Tensor y);
/// dx (N, C): each row of a sequence gets the sequence's row of dy (B, C) over its length.
void mean_rows_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dx);
void fill(const Device& device, double value, Tensor y);

/// Fills a parameter; drawn at (0, row, column) of `key`, so independent of threads, device and the other parameters.
void initialize(const Device& device, const ParameterSpec& spec, RandomKey key, Tensor values);

}  // namespace encore::kernels
