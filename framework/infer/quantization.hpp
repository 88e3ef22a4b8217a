// Quantization: which matrices of a model become integers of 8 or of 4 bits. All of them, unless they cost
// more than is tolerated: then each is measured alone, and those that harm most stay as they are, one after
// the other, until the others are tolerable; where 4 bits are asked for they get 8 first. The cost is the
// loss on a sample of the development set, or how far vectors of texts move. Place in the flow: the worker's
// quantize; the file is infer/integer_weights.hpp, the products kernels/products/gemm_integers.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infer/engine.hpp"
#include "infer/integer_weights.hpp"

namespace encore {

/// What a model is judged by while it is rounded: the smaller the better.
struct QuantizationCost {
  std::function<double()> measure;
  /// The tolerance is a share of the cost before, and of so much where that is less: of nearly nothing
  /// everything is a multiple.
  double least = 0.0;
};
/// The loss of examples whose truth is known. Both outlive what is returned.
QuantizationCost loss_on(Engine& engine, const EncodedSet& sample);
/// The largest distance (1 - cosine) of the texts' vectors from those before. For any model with an encoder.
QuantizationCost distance_of(Engine& engine, const ExampleSet& texts);

struct QuantizationOptions {
  int bits = 8;                        ///< or 4
  double tolerance = 0.01;             ///< by what share the cost may grow
  std::vector<std::string> keep = {};  ///< these stay: a path, or the beginning of one up to a point
};

/// A matrix that could be integers.
struct QuantizedMatrix {
  std::string path;
  std::int64_t parameters = 0;
  bool product = false;  ///< products read it; else its rows are looked up
  int bits = 8;          ///< 8 or 4; 0: it stays as it is, because it was asked for, or harms most
  /// The cost with this matrix alone as integers, of the bits that it has not got for it, less that of the
  /// model; nothing where it was not measured.
  std::optional<double> growth = {};

  bool kept() const { return bits == 0; }
};

struct Quantization {
  double cost = 0.0, quantized_cost = 0.0;
  std::vector<QuantizedMatrix> matrices;  ///< by path
  std::vector<std::string> adapted;       ///< matrices with an adapter: they stay as they are

  /// Those that are stored as integers, and those of them that products read.
  IntegerBits stored() const;
  std::vector<std::string> products() const;
};

/// The first `count` records, or all.
Records first_records(const Records& records, std::size_t count);

/// How many costs have been measured, of at most how many.
using QuantizationWatch = std::function<void(std::size_t done, std::size_t all)>;

/// Rounds the parameters of the engine's model, which was loaded with Weights::copied, and leaves it so.
/// Throws Error where the model has no such products, where nothing is left to round, where `keep` names no
/// matrix, and where the cost is not finite.
Quantization quantize(Engine& engine, const QuantizationCost& cost, const QuantizationOptions& options,
                      const QuantizationWatch& watch = {});

}  // namespace encore
