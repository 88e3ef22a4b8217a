// See tensor_distance.hpp.
#include "runner/tensor_distance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "record/safetensors.hpp"

namespace encore {

namespace {

/// Numbers in their order: neighbours are one apart, both zeros are equal.
template <class T>
auto rank(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const std::int64_t bits = std::bit_cast<Bits>(value);
  const std::int64_t lowest = std::numeric_limits<Bits>::min();
  return bits >= 0 ? bits : lowest - bits;
}

template <class T>
void compare_values(const Safetensors::Entry& one, const Safetensors::Entry& other,
                    TensorDistance& distance) {
  for (std::size_t at = 0; at + sizeof(T) <= one.bytes.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, one.bytes.data() + at, sizeof(T));
    std::memcpy(&b, other.bytes.data() + at, sizeof(T));
    if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
    ++distance.different;
    if (std::isnan(a) || std::isnan(b)) continue;
    const auto left = static_cast<std::uint64_t>(rank(a)), right = static_cast<std::uint64_t>(rank(b));
    distance.ulps = std::max(distance.ulps, rank(a) > rank(b) ? left - right : right - left);
    distance.largest = std::max(distance.largest, std::abs(static_cast<double>(a) - static_cast<double>(b)));
  }
}

std::int64_t count_of(const Safetensors::Entry& entry) {
  std::int64_t count = 1;
  for (const std::int64_t extent : entry.shape) count *= extent;
  return count;
}

TensorDistance all_of(const std::string& name, const Safetensors::Entry& entry) {
  return {name, count_of(entry), count_of(entry), 0, 0.0};
}

}  // namespace

std::vector<TensorDistance> tensor_distances(const std::filesystem::path& one,
                                             const std::filesystem::path& other) {
  const Safetensors left(one), right(other);
  std::vector<TensorDistance> distances;
  for (const auto& [name, entry] : left.tensors()) {
    const auto found = right.tensors().find(name);
    if (found == right.tensors().end() || found->second.dtype != entry.dtype ||
        found->second.shape != entry.shape) {
      distances.push_back(all_of(name, entry));
      continue;
    }
    TensorDistance distance{name, count_of(entry), 0, 0, 0.0};
    if (std::ranges::equal(entry.bytes, found->second.bytes)) continue;
    if (entry.dtype == DType::float32)
      compare_values<float>(entry, found->second, distance);
    else if (entry.dtype == DType::float64)
      compare_values<double>(entry, found->second, distance);
    else
      distance = all_of(name, entry);
    distances.push_back(distance);
  }
  for (const auto& [name, entry] : right.tensors())
    if (!left.has(name)) distances.push_back(all_of(name, entry));
  std::ranges::sort(distances, {}, &TensorDistance::name);
  return distances;
}

}  // namespace encore
