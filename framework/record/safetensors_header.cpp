// SPDX-License-Identifier: BSD-3-Clause
// parse_safetensors_header(): reads the header with a SAX handler on the parser of nlohmann instead of making
// a tree. The parser's callbacks would also make a tree and visit all members of an object after each of
// them: 40,000 tensors took 41 seconds. The limits protect against foreign files. Read safetensors_header.hpp
// first.
#include "record/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/json_text.hpp"

namespace encore::record {
namespace {

using nlohmann::json;

struct DTypeName {
  StoredType dtype;
  const char* name;
};
constexpr DTypeName dtype_names[] = {{StoredType::float32, "F32"},   {StoredType::float64, "F64"},
                                     {StoredType::bfloat16, "BF16"}, {StoredType::float16, "F16"},
                                     {StoredType::int32, "I32"},     {StoredType::int64, "I64"},
                                     {StoredType::int8, "I8"}};

/// Shortens a text for a message, because a name may have a hundred megabytes.
std::string shortened(const std::string& text, std::size_t most = 100) {
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

class HeaderReader final : public json::json_sax_t {
 public:
  SafetensorsHeader header;

  bool null() override { return other("null"); }
  bool boolean(bool value) override { return other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return other(std::to_string(value)); }
  bool number_float(double, const std::string& digits) override { return other(digits); }
  bool binary(json::binary_t&) override { return other("binary"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::list || value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return other(std::to_string(value));
    ++header.values;
    const bool is_shape = member_ == Member::shape;
    if (!is_shape && numbers_.size() == 2) refuse_member();
    if (is_shape && numbers_.size() == most_extents)
      throw Error(where() + "the shape has more than " + std::to_string(most_extents) + " extents");
    numbers_.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      ++header.values;
      header.metadata[member_name_] = std::move(value);
      return true;
    }
    const auto* const known = std::find_if(std::begin(dtype_names), std::end(dtype_names),
                                           [&](const DTypeName& entry) { return value == entry.name; });
    if (place_ != Place::tensor || member_ != Member::dtype || known == std::end(dtype_names))
      return other('"' + shortened(value) + '"');
    ++header.values;
    tensor_.dtype = known->dtype;
    return true;
  }

  bool start_object(std::size_t) override {
    ++header.values;
    if (place_ == Place::file) {
      place_ = Place::header;
    } else if (place_ != Place::header) {
      return other("an object");
    } else if (name_ == metadata_name) {
      place_ = Place::metadata;
    } else {
      place_ = Place::tensor;
      tensor_ = {};
      has_ = {};
    }
    return true;
  }

  bool key(std::string& name) override {
    ++header.values;
    switch (place_) {
      case Place::header:
        require_new(header.tensors.contains(name) || (has_metadata_ && name == metadata_name), name);
        if (header.tensors.size() == most_tensors)
          throw Error("the header names more than " + std::to_string(most_tensors) + " tensors");
        has_metadata_ = has_metadata_ || name == metadata_name;
        name_ = std::move(name);
        return true;
      case Place::metadata:
        require_new(header.metadata.contains(name), name);
        if (header.metadata.size() == most_metadata)
          throw Error("the header has more than " + std::to_string(most_metadata) + " metadata entries");
        member_name_ = std::move(name);
        return true;
      default:
        start_member(name);
        return true;
    }
  }

  bool end_object() override {
    ++header.values;
    if (place_ == Place::tensor) {
      if (!has_[0] || !has_[1] || !has_[2]) refuse_tensor();
      header.tensors.emplace(std::move(name_), std::move(tensor_));
    }
    place_ = place_ == Place::header ? Place::file : Place::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || member_ == Member::dtype) return other("a list");
    ++header.values;
    place_ = Place::list;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    ++header.values;
    place_ = Place::tensor;
    if (member_ == Member::shape) {
      tensor_.shape = numbers_;
      return true;
    }
    if (numbers_.size() != 2) refuse_member();
    tensor_.begin = static_cast<std::uint64_t>(numbers_[0]);
    tensor_.end = static_cast<std::uint64_t>(numbers_[1]);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    throw Error("the header is not JSON: " + shortened(error.what(), 300));
  }

 private:
  enum class Place : std::uint8_t { file, header, tensor, list, metadata };
  enum class Member : std::uint8_t { dtype, shape, data_offsets };

  std::string where() const { return "tensor \"" + shortened(name_) + "\": "; }
  [[noreturn]] void refuse_tensor() const {
    throw Error(where() + "must have dtype, shape and data_offsets, nothing else");
  }
  [[noreturn]] void refuse_member() const {
    throw Error(where() + (member_ == Member::shape ? "not a shape" : "data_offsets are not two numbers"));
  }
  static void require_new(bool known, const std::string& name) {
    if (known) throw Error("the header names \"" + shortened(name) + "\" twice");
  }

  void start_member(const std::string& name) {
    constexpr const char* names[] = {"dtype", "shape", "data_offsets"};
    const auto* const found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) refuse_tensor();
    const auto number = static_cast<std::size_t>(found - std::begin(names));
    require_new(has_[number], name);
    has_[number] = true;
    member_ = static_cast<Member>(number);
  }

  /// Reports a value that stands where another one belongs.
  bool other(const std::string& value) const {
    if (place_ == Place::metadata) throw Error("metadata \"" + shortened(member_name_) + "\" is not text");
    if (place_ == Place::header && name_ == metadata_name) throw Error("the metadata are not an object");
    if (place_ == Place::header) refuse_tensor();
    if (member_ == Member::dtype) throw Error(where() + "dtype " + value + " is not known");
    refuse_member();
  }

  Place place_ = Place::file;
  std::string name_;         ///< of the tensor
  std::string member_name_;  ///< of metadata
  bool has_metadata_ = false;
  SafetensorsHeader::Tensor tensor_;
  Member member_ = Member::dtype;
  std::array<bool, 3> has_{};  ///< by Member
  std::vector<std::int64_t> numbers_;
};

}  // namespace

const char* format_name(StoredType dtype) {
  for (const DTypeName& entry : dtype_names)
    if (entry.dtype == dtype) return entry.name;
  return "";
}

SafetensorsHeader parse_safetensors_header(std::string_view text) {
  require_shallow_json(text);
  HeaderReader reader;
  json::sax_parse(text.begin(), text.end(), &reader);
  return std::move(reader.header);
}

}  // namespace encore::record
