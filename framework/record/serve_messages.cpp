// SPDX-License-Identifier: BSD-3-Clause
// Encodes and decodes the messages of `exp serve` and its workers. One visit_fields() per message serves both
// directions, so that reader and writer have the same order. Lengths that arrive are not trusted. Both
// programs come from one build, so the form may change. Read serve_messages.hpp first.
#include "record/serve_messages.hpp"

#include <bit>
#include <cstring>
#include <span>
#include <type_traits>

#include <encore/error.hpp>

#include "base/crc32.hpp"

namespace encore::record {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t serve_head_bytes = 8;  ///< length and checksum

/// Writes fields one after another.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& to) : to_(to) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { to_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    to_ += text;
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<std::uint32_t>(list.size()));
    for (const T& each : list) visit_member(each);
  }

 private:
  template <class T>
  void visit_member(const T& member);

  std::string& to_;
};

/// Reads the fields in the same order. Throws Error for a length that the message does not have.
class FieldReader {
 public:
  explicit FieldReader(std::string_view from) : from_(from) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) { std::memcpy(&value, take(sizeof value).data(), sizeof value); }
  void operator()(bool& value) {
    std::uint8_t byte = 0;
    (*this)(byte);
    if (byte > 1) throw Error("a flag is " + std::to_string(byte));
    value = byte == 1;
  }
  void operator()(std::string& text) {
    std::uint32_t size = 0;
    (*this)(size);
    text = take(size);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::uint32_t count = 0;
    (*this)(count);
    // Members are added one by one as they are read: in memory each takes more than the four bytes that it
    // may take here.
    if (count > from_.size() / 4) throw Error("it lists more than it holds");
    list.clear();
    for (; count > 0; --count) visit_member(list.emplace_back());
  }
  void require_end() const {
    if (!from_.empty()) throw Error(std::to_string(from_.size()) + " bytes follow its last field");
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > from_.size()) throw Error("it ends within a field");
    const std::string_view taken = from_.substr(0, count);
    from_.remove_prefix(count);
    return taken;
  }
  template <class T>
  void visit_member(T& member);

  std::string_view from_;
};

// Visits the fields of each message in their order, for both directions.

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeItem>
void visit_fields(T& item, Visitor& visit) {
  visit(item.id), visit(item.work), visit(item.allowed), visit(item.observed), visit(item.scored);
  visit(item.text);
}
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeAnswer>
void visit_fields(T& answer, Visitor& visit) {
  visit(answer.id), visit(answer.outcome), visit(answer.tokens), visit(answer.text);
  visit(answer.facts);
  visit(answer.members);
}
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeBatch>
void visit_fields(T& batch, Visitor& visit) {
  visit(batch.items);
}
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeCancel>
void visit_fields(T& cancel, Visitor& visit) {
  visit(cancel.id);
}
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeModel>
void visit_fields(T& model, Visitor& visit) {
  visit(model.digest), visit(model.step), visit(model.no_answers), visit(model.no_vectors);
  visit(model.no_writing), visit(model.no_scores), visit(model.notes);
  visit(model.task), visit(model.fields), visit(model.labels), visit(model.band), visit(model.proposal);
}
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ServeAnswers>
void visit_fields(T& answers, Visitor& visit) {
  visit(answers.answers);
}

template <class T>
void FieldWriter::visit_member(const T& member) {
  if constexpr (std::is_same_v<T, std::string>)
    (*this)(member);
  else
    visit_fields(member, *this);
}
template <class T>
void FieldReader::visit_member(T& member) {
  if constexpr (std::is_same_v<T, std::string>)
    (*this)(member);
  else
    visit_fields(member, *this);
}

void require_known(const ServeMessage& message) {
  if (const auto* batch = std::get_if<ServeBatch>(&message))
    for (const ServeItem& item : batch->items)
      if (item.work < ServeWork::answer || item.work > ServeWork::writing)
        throw Error("it asks for work " + std::to_string(static_cast<int>(item.work)));
  if (const auto* answers = std::get_if<ServeAnswers>(&message))
    for (const ServeAnswer& answer : answers->answers)
      if (answer.outcome < ServeOutcome::part || answer.outcome > ServeOutcome::refused)
        throw Error("unknown outcome " + std::to_string(static_cast<int>(answer.outcome)));
}

template <std::size_t kind = 0>
ServeMessage read_message(std::size_t wanted, FieldReader& reader) {
  if constexpr (kind == std::variant_size_v<ServeMessage>) {
    throw Error("its kind is " + std::to_string(wanted));
  } else {
    if (wanted != kind) return read_message<kind + 1>(wanted, reader);
    std::variant_alternative_t<kind, ServeMessage> message;
    visit_fields(message, reader);
    reader.require_end();
    return message;
  }
}

}  // namespace

std::string serve_frame(const ServeMessage& message) {
  std::string frame(serve_head_bytes, '\0');
  FieldWriter write(frame);
  write(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& each) { visit_fields(each, write); }, message);
  const std::string_view payload = std::string_view(frame).substr(serve_head_bytes);
  if (payload.size() > serve_frame_limit)
    throw Error("a message of more than 256 MiB between exp and worker");
  const auto length = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t checksum = crc32(std::as_bytes(std::span(payload)));
  std::memcpy(frame.data(), &length, sizeof length);
  std::memcpy(frame.data() + sizeof length, &checksum, sizeof checksum);
  return frame;
}

std::optional<ServeMessage> ServeFrames::next() {
  const std::string_view rest = std::string_view(bytes_).substr(begin_);
  if (rest.size() < serve_head_bytes) return {};
  std::uint32_t length = 0, checksum = 0;
  std::memcpy(&length, rest.data(), sizeof length);
  std::memcpy(&checksum, rest.data() + sizeof length, sizeof checksum);
  const std::string damage = "the connection between exp and worker is damaged: ";
  if (length == 0 || length > serve_frame_limit) throw Error(damage + "not a frame's length");
  if (rest.size() < serve_head_bytes + length) return {};
  const std::string_view payload = rest.substr(serve_head_bytes, length);
  if (crc32(std::as_bytes(std::span(payload))) != checksum) throw Error(damage + "the checksum differs");
  std::optional<ServeMessage> message;
  try {
    FieldReader reader(payload.substr(1));
    message = read_message(static_cast<unsigned char>(payload[0]), reader);
    require_known(*message);
  } catch (const Error& error) {
    throw Error(damage + "a message cannot be read: " + error.what());
  }
  begin_ += serve_head_bytes + length;
  if (begin_ > bytes_.size() / 2) {  // a byte is moved at most once for each that was read
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  return message;
}

}  // namespace encore::record
