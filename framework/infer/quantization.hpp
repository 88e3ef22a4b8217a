// SPDX-License-Identifier: BSD-3-Clause
// Decides which matrices of a model become integers of 8 or 4 bits: all of them, if the cost is within the
// tolerance. Otherwise each is measured alone, and the most harmful ones are left out one by one until it is;
// if 4 bits are requested, a harmful matrix first gets 8. The cost is the loss on a sample of the development
// set, or the change of vectors. The worker's quantize calls quantize(). Matrices are tried in a fixed order,
// which must stay. Read next: integer_weights.hpp, the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infer/engine.hpp"
#include "infer/integer_weights.hpp"

namespace encore::infer {

/// How a rounded model is measured: the smaller the better.
struct QuantizationCost {
  std::function<double()> measure;
  /// The tolerance is a share of the cost before rounding, or of this value if that is larger: relative to a
  /// cost near zero every change would be too large.
  double least = 0.0;
};
/// Returns the loss of examples whose truth is known as a cost. Both arguments must outlive the result.
QuantizationCost loss_on(Engine& engine, const tasks::EncodedSet& sample);
/// Returns the largest distance (1 - cosine) of the vectors of these inputs from those before rounding as a
/// cost, for any model with an encoder.
QuantizationCost distance_of(Engine& engine, const EncodedTexts& texts);

struct QuantizationOptions {
  int bits = 8;                        ///< 8 or 4
  double tolerance = 0.01;             ///< the share by which the cost may grow
  std::vector<std::string> keep = {};  ///< matrices to leave out: a path, or its beginning up to a point
};

/// A matrix that could be integers.
struct QuantizedMatrix {
  std::string path;
  std::int64_t parameters = 0;
  bool product = false;  ///< products read it; else its rows are looked up
  int bits = 8;          ///< 8 or 4; 0: not rounded, because the user keeps it, or because it harms most
  /// The cost with this matrix alone as integers of the rejected number of bits, less that of the
  /// model; empty if it was not measured.
  std::optional<double> growth = {};

  bool kept() const { return bits == 0; }
};

/// The result of quantize().
struct Quantization {
  double cost = 0.0, quantized_cost = 0.0;  ///< before and after rounding
  std::vector<QuantizedMatrix> matrices;    ///< by path
  std::vector<std::string> adapted;         ///< matrices with an adapter, which are not rounded

  /// Returns the matrices that are stored as integers; products() returns those of them that products read.
  IntegerBits stored() const;
  std::vector<std::string> products() const;
};

/// Returns the first `count` records, or all if there are fewer.
Records first_records(const Records& records, std::size_t count);

/// Receives the number of costs measured so far, and the largest number that may be needed.
using QuantizationWatch = std::function<void(std::size_t done, std::size_t all)>;

/// Rounds the parameters of the engine's model, which must have been loaded with Weights::copied. They stay
/// rounded. Matrices are measured in the order of their paths, so that equal models give equal files. Throws
/// Error if the model has no such products, if nothing is left to round, if `keep` names no matrix, and if
/// the cost is not finite.
Quantization quantize(Engine& engine, const QuantizationCost& cost, const QuantizationOptions& options,
                      const QuantizationWatch& watch = {});

}  // namespace encore::infer
