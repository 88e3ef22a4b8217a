// SPDX-License-Identifier: BSD-3-Clause
// tensor_distances(): reads two checkpoints tensor by tensor, and computes the largest and the relative
// distance of each tensor. drift.cpp sums the results up by layer. verifier.cpp uses the results too. Stored
// verifications have these figures, so their definitions do not change. Read tensor_distance.hpp first.
#include "runner/tensor_distance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <type_traits>

#include "record/safetensors.hpp"

namespace encore::runner {

namespace {

/// Returns an integer that orders the numbers of this type: neighbours are one apart, and both zeros are
/// equal.
template <class T>
auto rank(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const std::int64_t bits = std::bit_cast<Bits>(value);
  const std::int64_t lowest = std::numeric_limits<Bits>::min();
  return bits >= 0 ? bits : lowest - bits;
}

template <class T>
void compare_values(const record::Safetensors::Entry& one, const record::Safetensors::Entry& other,
                    TensorDistance& distance) {
  for (std::size_t at = 0; at + sizeof(T) <= one.bytes.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, one.bytes.data() + at, sizeof(T));
    std::memcpy(&b, other.bytes.data() + at, sizeof(T));
    const bool equal = std::memcmp(&a, &b, sizeof(T)) == 0;
    if (!equal) ++distance.different;
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    distance.one_squared += x * x;
    distance.other_squared += y * y;
    if (equal) continue;
    const auto left = static_cast<std::uint64_t>(rank(a)), right = static_cast<std::uint64_t>(rank(b));
    distance.ulps = std::max(distance.ulps, rank(a) > rank(b) ? left - right : right - left);
    distance.largest = std::max(distance.largest, std::abs(x - y));
    distance.difference_squared += (x - y) * (x - y);
  }
}

std::int64_t count_of(const record::Safetensors::Entry& entry) {
  std::int64_t count = 1;
  for (const std::int64_t extent : entry.shape) count *= extent;
  return count;
}

TensorDistance incomparable(const std::string& name, const record::Safetensors::Entry& entry) {
  TensorDistance distance;
  distance.name = name;
  distance.values = distance.different = count_of(entry);
  distance.comparable = false;
  return distance;
}

TensorDistance distance_of(const std::string& name, const record::Safetensors::Entry& one,
                           const record::Safetensors::Entry& other) {
  if (other.dtype != one.dtype || other.shape != one.shape) return incomparable(name, one);
  TensorDistance distance;
  distance.name = name;
  distance.values = count_of(one);
  if (one.dtype == DType::float32)
    compare_values<float>(one, other, distance);
  else if (one.dtype == DType::float64)
    compare_values<double>(one, other, distance);
  else if (!std::ranges::equal(one.bytes, other.bytes))
    return incomparable(name, one);
  return distance;
}

using Entries = std::map<std::string, const record::Safetensors::Entry*>;

/// Returns the tensors of a file whose names begin with `prefix`, under names that begin with `shown`
/// instead.
Entries entries_of(const record::Safetensors& file, std::string_view prefix, std::string_view shown) {
  Entries entries;
  for (const auto& [name, entry] : file.tensors())
    if (name.starts_with(prefix)) entries[std::string(shown) + name.substr(prefix.size())] = &entry;
  return entries;
}

std::vector<TensorDistance> distances_between(const Entries& one, const Entries& other) {
  std::vector<TensorDistance> distances;
  for (const auto& [name, entry] : one) {
    const auto found = other.find(name);
    distances.push_back(found == other.end() ? incomparable(name, *entry)
                                             : distance_of(name, *entry, *found->second));
  }
  for (const auto& [name, entry] : other)
    if (!one.contains(name)) distances.push_back(incomparable(name, *entry));
  std::ranges::sort(distances, {}, &TensorDistance::name);
  return distances;
}

}  // namespace

double TensorDistance::relative() const {
  const double norm = std::sqrt(std::max(one_squared, other_squared));
  return norm > 0.0 ? std::sqrt(difference_squared) / norm : 0.0;
}

void TensorDistance::add(const TensorDistance& tensor) {
  values += tensor.values;
  different += tensor.different;
  comparable = comparable && tensor.comparable;
  ulps = std::max(ulps, tensor.ulps);
  largest = std::max(largest, tensor.largest);
  difference_squared += tensor.difference_squared;
  one_squared += tensor.one_squared;
  other_squared += tensor.other_squared;
}

std::vector<TensorDistance> tensor_distances(const std::filesystem::path& one,
                                             const std::filesystem::path& other) {
  const record::Safetensors left(one), right(other);
  return distances_between(entries_of(left, "", ""), entries_of(right, "", ""));
}

std::vector<TensorDistance> weight_distances(const std::filesystem::path& weights,
                                             const std::filesystem::path& checkpoint) {
  const record::Safetensors left(weights), right(checkpoint);
  return distances_between(entries_of(left, "", parameter_prefix),
                           entries_of(right, parameter_prefix, parameter_prefix));
}

}  // namespace encore::runner
