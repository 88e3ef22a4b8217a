// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "frames": messages between `exp serve` and its workers (record/serve_messages.hpp). A
// stream of frames is mutated, most mutations get a matching length and checksum, and both sides parse the
// messages as far as they do without a model. Messages must be the same however the bytes are cut. fuzz.cpp
// calls the target; read target.hpp first.
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/crc32.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "record/generate_request.hpp"
#include "record/serve_messages.hpp"
#include "serve/answers.hpp"
#include "serve/refusal.hpp"
#include "serve/serve_monitor.hpp"

namespace encore::fuzz {

namespace {

constexpr std::size_t head_bytes = 8;  // u32 length, u32 checksum

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Returns where each frame begins, as far as the lengths are valid.
std::vector<std::size_t> begins_of_frames(std::string_view stream) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at + head_bytes <= stream.size();) {
    begins.push_back(at);
    at += head_bytes + number_at(stream, at);
  }
  return begins;
}

/// Returns the messages up to the end, or to the first damage, which is then in `damage`.
std::vector<record::ServeMessage> messages_in(std::string_view stream, std::size_t bytes_at_a_time,
                                              std::string& damage) {
  record::ServeFrames frames;
  std::vector<record::ServeMessage> messages;
  try {
    for (std::size_t at = 0; at < stream.size(); at += bytes_at_a_time) {
      frames.add(stream.substr(at, bytes_at_a_time));
      while (std::optional<record::ServeMessage> message = frames.next())
        messages.push_back(std::move(*message));
    }
  } catch (const Error& error) {
    damage = error.what();
  }
  return messages;
}

class FramesTarget final : public Target {
 public:
  std::string name() const override { return "frames"; }

  std::vector<std::string> corpus() override {
    record::GenerateRequest request{.prompts = {"the", "a"}, .json = true};
    request.decoding.max_tokens = 4;
    request.decoding.temperature = 0.5;
    request.decoding.stop = {"."};
    const std::string to_worker =
        record::serve_frame(record::ServeBatch{
            {{.id = 1, .observed = true, .text = "the text"},
             {.id = 2, .work = record::ServeWork::vector, .allowed = true, .text = "na\u00efve"},
             {.id = 3, .work = record::ServeWork::writing, .text = request.text()}}}) +
        record::serve_frame(record::ServeCancel{3});
    const std::string from_worker =
        record::serve_frame(
            record::ServeModel{.digest = std::string(64, 'a'), .step = 12, .notes = {"a note"}}) +
        record::serve_frame(record::ServeAnswers{
            {{.id = 1,
              .tokens = 4,
              .text = R"({"label":"A","probability":0.5})",
              .facts = R"({"pieces":4,"unknown":1,"confidence":0.5,"labels":{"A":1}})"},
             {.id = 2, .tokens = 3, .text = std::string("\0\0\x80\x3f\0\0\0\x40", 8)},
             {.id = 3, .outcome = record::ServeOutcome::part, .text = "th"},
             {.id = 3, .tokens = 2, .text = R"([[{"text":"the","score":-0.5,"pieces":2,"ended":true}]])"},
             {.id = 4, .outcome = record::ServeOutcome::refused, .text = "too long"}}});
    return {to_worker, from_worker};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {
        std::string(4, '\0'), "\xff\xff\xff\xff", "\x01",  "\x04", "{}", "[[]]", "null",
        "\"pieces\":",        "\"ended\":",       "1e999", "\xff"};
    if (random.once_in(2) && mutate_text(input, random)) return;
    const std::vector<std::size_t> begins = begins_of_frames(input);
    if (random.once_in(4) || begins.empty()) return mutate_bytes(input, words, others, random);
    const std::size_t begin = random.any_of(begins);
    const std::size_t size =
        std::min<std::size_t>(number_at(input, begin), input.size() - begin - head_bytes);
    std::string payload = input.substr(begin + head_bytes, size);
    mutate_bytes(payload, words, others, random);
    const auto length = static_cast<std::uint32_t>(payload.size());
    const std::uint32_t checksum = crc32(std::as_bytes(std::span(payload)));
    std::string head(head_bytes, '\0');
    std::memcpy(head.data(), &length, sizeof length);
    std::memcpy(head.data() + sizeof length, &checksum, sizeof checksum);
    input.replace(begin, head_bytes + size, head + payload);
  }

  void take(const std::string& input) override {
    std::string damage, damage_in_parts;
    const std::vector<record::ServeMessage> messages =
        messages_in(input, std::max<std::size_t>(1, input.size()), damage);
    if (messages != messages_in(input, 7, damage_in_parts) || damage != damage_in_parts)
      throw std::logic_error("other messages where the bytes come in small parts");
    std::size_t at = 0;
    for (const record::ServeMessage& message : messages) {
      const std::string frame = record::serve_frame(message);
      if (input.compare(at, frame.size(), frame) != 0)
        throw std::logic_error("a message is written otherwise than it was read");
      at += frame.size();
    }
    for (const record::ServeMessage& message : messages) {
      if (const auto* batch = std::get_if<record::ServeBatch>(&message)) take_batch(*batch);
      if (const auto* answers = std::get_if<record::ServeAnswers>(&message)) take_answers(*answers);
    }
    if (!damage.empty()) throw Error(damage);
  }

 private:
  /// Changes one string of one message, which stays a valid message.
  static bool mutate_text(std::string& input, Random& random) {
    std::string damage;
    std::vector<record::ServeMessage> messages = messages_in(input, input.size() + 1, damage);
    std::vector<std::string*> texts;
    for (record::ServeMessage& message : messages) {
      if (auto* batch = std::get_if<record::ServeBatch>(&message))
        for (record::ServeItem& item : batch->items) texts.push_back(&item.text);
      if (auto* answers = std::get_if<record::ServeAnswers>(&message))
        for (record::ServeAnswer& answer : answers->answers)
          texts.insert(texts.end(), {&answer.text, &answer.facts});
    }
    if (texts.empty() || !damage.empty()) return false;
    mutate_json(*random.any_of(texts), random);
    input.clear();
    for (const record::ServeMessage& message : messages) input += record::serve_frame(message);
    return true;
  }

  static void take_batch(const record::ServeBatch& batch) {
    for (const record::ServeItem& item : batch.items)
      if (item.work == record::ServeWork::writing)
        record::contradiction_in(record::GenerateRequest::parse(item.text).decoding.over(Decoding()));
  }

  /// Service::finish does the same: an invalid answer becomes the body of an error.
  void take_answers(const record::ServeAnswers& message) const {
    static const serve::ServedModel model = {.name = "tiny", .version = "1", .facts = {.digest = "ab"}};
    serve::Job job;
    for (const record::ServeAnswer& answer : message.answers)
      if (answer.outcome != record::ServeOutcome::part) job.answers.push_back(answer);
    job.texts.resize(job.answers.size());
    if (job.answers.empty()) return;
    for (const record::ServeWork work :
         {record::ServeWork::answer, record::ServeWork::vector, record::ServeWork::writing})
      try {
        serve::answer_body(model, {.work = work, .base64 = job.answers.size() > 1}, job, "cmpl-1");
        if (work == record::ServeWork::writing) serve::stream_end(model, "cmpl-1", job);
      } catch (const std::exception& error) {
        serve::error_body(500, error.what());
      }
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::create_directory(folder_ / "run");
    serve::ServeMonitor monitor(folder_ / "run", "0123456789", "session", {.share = 1.0, .text_days = 1.0});
    monitor.add("a", model.facts.digest, job, 0.1);
    try {
      monitor.feedback({.id = "a", .text = 0, .answer = R"({"label":"B"})"});
    } catch (const std::exception& error) {
      serve::error_body(500, error.what());
    }
    for (const record::ServeAnswer& answer : job.answers)
      if (!answer.facts.empty()) record::TextFacts::parse(answer.facts);
  }

  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_frames_target() {
  return std::make_unique<FramesTarget>();
}

}  // namespace encore::fuzz
