// SPDX-License-Identifier: BSD-3-Clause
// Implements quantize(): measures the cost of rounding the matrices of a model to integers, and chooses those
// that are rounded. The worker's quantize calls it; integer_weights.cpp then writes the file. Matrices are
// tried in a fixed order, so that equal models give equal files. Read quantization.hpp first.
#include "infer/quantization.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <encore/error.hpp>

#include "config/value.hpp"
#include "memory/device_memory.hpp"
#include "model/floats.hpp"

namespace encore::infer {
namespace {

/// The smallest width of a matrix: in narrower rows the scales take the space that the integers save.
constexpr std::int64_t least_columns = 8;

using Paths = std::set<std::string>;

/// Returns whether `name` is the path, or the beginning of the path up to a point.
bool names(const std::string& name, const std::string& path) {
  return path == name || (path.starts_with(name) && path[name.size()] == '.');
}

/// A model of which a chosen set of matrices is rounded; round() changes the set and restores the others.
class RoundedModel {
 public:
  RoundedModel(model::Model& model, const QuantizationCost& cost) : model_(model), cost_(cost) {
    model_.quantize({});  // refuses an unsuitable model before any number is read as a float
    for (const std::string& path : model_.product_weights()) add(path, true);
    for (const memory::ParameterSlice& slice : model_.parameters().slices())
      if (slice.spec.token_rows) add(slice.path, false);
    forget_what_nothing_reads();
  }

  const std::vector<std::string>& adapted() const { return adapted_; }
  Paths paths() const {
    Paths found;
    for (const auto& [path, matrix] : matrices_) found.insert(path);
    return found;
  }
  QuantizedMatrix described(const std::string& path) const {
    const Matrix& matrix = matrices_.at(path);
    return {.path = path, .parameters = matrix.tensor.size(), .product = matrix.product};
  }

  /// Rounds exactly these matrices to integers; the others get their values back.
  void round(const IntegerBits& rounded) {
    IntegerBits products;
    for (auto& [path, matrix] : matrices_) {
      const auto asked = rounded.find(path);
      const int bits = asked == rounded.end() ? 0 : asked->second;
      if (bits != 0 && matrix.product) products[path] = bits;
      if (bits == std::exchange(matrix.bits, bits)) continue;
      if (bits != 0)
        memory::copy_from_host(model_.device(),
                               rounded_to_integers(matrix.values, matrix.tensor.extent(1), bits).data(),
                               matrix.tensor);
      else
        memory::copy_from_host(model_.device(), matrix.values.data(), matrix.tensor);
    }
    model_.parameters().values_changed();
    model_.quantize(products);
  }

  double cost() {
    const double cost = cost_.measure();
    if (!std::isfinite(cost))
      throw Error("the cost of rounding the matrices is not finite, so it cannot be compared");
    return cost;
  }

 private:
  struct Matrix {
    Tensor tensor;
    std::vector<float> values;  ///< before rounding
    bool product = false;
    int bits = 0;  ///< as it is rounded; 0: it is not
  };

  void add(const std::string& path, bool product) {
    const memory::ParameterSlice& slice = model_.parameters().find(path);
    if (matrices_.contains(path) || slice.spec.shape.size() != 2 || slice.spec.shape[1] < least_columns)
      return;
    if (slice.adapter) {
      adapted_.push_back(path);
      return;
    }
    const Tensor tensor = memory::ParameterBlock::slice(model_.parameters().values(), slice);
    matrices_[path] = {tensor, model::floats_of(model_.device(), tensor), product};
  }

  /// Leaves out matrices that no product and no lookup reads: their use is unknown here.
  void forget_what_nothing_reads() {
    IntegerBits all;
    for (const std::string& path : paths()) all[path] = 8;
    round(all);
    static_cast<void>(cost());
    const std::vector<std::string> read = model_.quantized_products();
    for (auto& [path, matrix] : matrices_) matrix.product = std::ranges::binary_search(read, path);
    std::erase_if(matrices_, [&](const auto& entry) {
      return !entry.second.product && !model_.parameters().find(entry.first).spec.token_rows;
    });
  }

  model::Model& model_;
  const QuantizationCost& cost_;
  std::map<std::string, Matrix> matrices_;
  std::vector<std::string> adapted_;
};

/// Marks the matrices that `keep` names.
void keep_named(const std::vector<std::string>& keep, std::vector<QuantizedMatrix>& matrices) {
  for (const std::string& name : keep) {
    bool known = false;
    for (QuantizedMatrix& matrix : matrices) {
      if (!names(name, matrix.path)) continue;
      matrix.bits = 0;
      known = true;
    }
    if (known) continue;
    std::string list;
    for (const QuantizedMatrix& matrix : matrices) list += (list.empty() ? "" : ", ") + matrix.path;
    throw Error("--keep " + name + " names no matrix that could become integers; there are " + list);
  }
}

/// Measures each matrix with this number of bits alone, and gives the most harmful ones `more` (0: they are
/// not rounded) until the cost is tolerable.
void relieve(RoundedModel& model, double most, int bits, int more, Quantization& found,
             const std::function<void()>& seen) {
  std::vector<QuantizedMatrix*> order;
  for (QuantizedMatrix& matrix : found.matrices) {
    if (matrix.bits != bits) continue;
    model.round({{matrix.path, bits}});
    matrix.growth = model.cost() - found.cost;
    order.push_back(&matrix);
    seen();
  }
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return *a->growth > *b->growth; });
  for (QuantizedMatrix* matrix : order) {
    if (found.quantized_cost <= most) return;
    matrix->bits = more;
    model.round(found.stored());
    found.quantized_cost = model.cost();
    seen();
  }
}

}  // namespace

IntegerBits Quantization::stored() const {
  IntegerBits bits;
  for (const QuantizedMatrix& matrix : matrices)
    if (!matrix.kept()) bits[matrix.path] = matrix.bits;
  return bits;
}

std::vector<std::string> Quantization::products() const {
  std::vector<std::string> paths;
  for (const QuantizedMatrix& matrix : matrices)
    if (matrix.product && !matrix.kept()) paths.push_back(matrix.path);
  return paths;
}

QuantizationCost loss_on(Engine& engine, const tasks::EncodedSet& sample) {
  return {.measure = [&engine, &sample] { return engine.loss(sample); }, .least = 0.01};
}

QuantizationCost distance_of(Engine& engine, const EncodedTexts& texts) {
  return {.measure = [&engine, &texts,
                      before = engine.embed(texts)] { return largest_distance(before, engine.embed(texts)); },
          .least = 1.0};
}

Records first_records(const Records& records, std::size_t count) {
  Records first;
  for (const Records::Field& field : records.fields())
    first.add(field.name, std::visit(
                              [&](const auto& values) -> Records::Values {
                                return std::decay_t<decltype(values)>(
                                    values.begin(), values.begin() + static_cast<std::ptrdiff_t>(
                                                                         std::min(count, values.size())));
                              },
                              field.values));
  return first;
}

Quantization quantize(Engine& engine, const QuantizationCost& cost, const QuantizationOptions& options,
                      const QuantizationWatch& watch) {
  RoundedModel model(engine.model(), cost);
  Quantization found;
  found.adapted = model.adapted();
  for (const std::string& path : model.paths()) {
    found.matrices.push_back(model.described(path));
    found.matrices.back().bits = options.bits;
  }
  keep_named(options.keep, found.matrices);
  std::size_t done = 0, all = 2;
  const auto seen = [&] {
    if (watch) watch(++done, all);
  };
  model.round({});
  found.cost = model.cost();
  seen();
  model.round(found.stored());
  found.quantized_cost = model.cost();
  seen();
  const double most = found.cost + options.tolerance * std::max(std::abs(found.cost), cost.least);
  for (const int bits : {4, 8}) {
    if (found.quantized_cost <= most || bits < options.bits) continue;
    all += 2 * found.stored().size();
    relieve(model, most, bits, bits == 4 ? 8 : 0, found, seen);
  }
  if (found.stored().empty())
    throw Error("no matrix can become integers within " + config::shortest(options.tolerance) +
                " of the cost; raise --tolerance");
  model.round(found.stored());
  return found;
}

}  // namespace encore::infer
