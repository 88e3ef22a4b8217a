// SPDX-License-Identifier: BSD-3-Clause
// QuantizeAnswer: the answer of `encore-worker quantize`, which says which matrices became integers, the file
// with them, and the scores before and after. The worker writes it (worker/quantize_verb.cpp), `exp quantize`
// prints it (cli/quantize_verb.cpp). Users see these members as JSON, so they keep their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "base/measure_json.hpp"

namespace encore::record {

/// What was decided about a matrix; infer/quantization.hpp says what the members mean.
struct RoundedMatrix {
  std::string path;
  std::int64_t parameters = 0;
  bool product = false;
  int bits = 8;
  bool kept = false;
  std::optional<double> growth = {};
};
void list(auto& field, A<RoundedMatrix> auto& matrix) {
  field("path", matrix.path);
  field("parameters", matrix.parameters);
  field("product", matrix.product);
  field("bits", matrix.bits);
  field("kept", matrix.kept);
  field.optional("growth", matrix.growth);
}

/// The cost by which matrices were chosen (the loss or a change of vectors), with weights as floats and as
/// integers.
struct RoundingCost {
  double before = 0.0, after = 0.0;
};
void list(auto& field, A<RoundingCost> auto& cost) {
  field("before", cost.before);
  field("after", cost.after);
}

/// An interval at 95 %.
struct ScoreRange {
  double low = 0.0, high = 0.0;
  bool operator==(const ScoreRange&) const = default;
};
void list(auto& field, A<ScoreRange> auto& range) {
  field("low", range.low);
  field("high", range.high);
}

/// A measure before and after.
struct ScoreChange {
  double before = 0.0, after = 0.0;
  std::optional<ScoreRange> difference = {};  ///< of after - before, at 95 %; none of the loss
};
void list(auto& field, A<ScoreChange> auto& change) {
  field("before", change.before);
  field("after", change.after);
  field.optional("difference", change.difference);
}

struct QuantizeAnswer {
  std::int64_t step = 0;
  std::string judged_by;   ///< "loss" or "vectors"
  std::size_t sample = 0;  ///< examples that decided
  double tolerance = 0.0;  ///< the share by which the cost may grow
  int bits = 8;
  RoundingCost cost;
  std::vector<RoundedMatrix> matrices;
  std::vector<std::string> adapted;          ///< matrices with an adapter, which stay as they are
  std::string file, sha256;                  ///< of the new weights file
  std::uint64_t bytes = 0, float_bytes = 0;  ///< sizes of the new file and of the one with floats
  std::map<std::string, std::map<std::string, ScoreChange>> sets = {};  ///< by split and name of the measure
  std::vector<encore::Measure> definitions = {};
};
void list(auto& field, A<QuantizeAnswer> auto& answer) {
  field("step", answer.step);
  field("judged_by", answer.judged_by);
  field("sample", answer.sample);
  field("tolerance", answer.tolerance);
  field("bits", answer.bits);
  field("cost", answer.cost);
  field("matrices", answer.matrices);
  field("adapted", answer.adapted);
  field("file", answer.file);
  field("sha256", answer.sha256);
  field("bytes", answer.bytes);
  field("float_bytes", answer.float_bytes);
  field("sets", answer.sets);
  field("definitions", answer.definitions);
}

}  // namespace encore::record
