// SPDX-License-Identifier: BSD-3-Clause
// Tests the messages between `exp serve` and its workers (record/serve_messages.hpp): every field is
// transmitted, bytes may arrive in any parts, and damage is noticed.
#include "record/serve_messages.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>

#include <encore/error.hpp>

#include "base/crc32.hpp"

namespace encore::record {
namespace {

const std::vector<ServeMessage>& samples() {
  static const std::vector<ServeMessage> all = {
      ServeBatch{
          {{.id = 1, .work = ServeWork::answer, .allowed = true, .scored = true, .text = "Anna \xC3\xA4\n"},
           {.id = ~std::uint64_t{0}, .work = ServeWork::vector, .text = std::string("\0b", 2)}}},
      ServeBatch{}, ServeCancel{.id = 7},
      ServeModel{.digest = "d1",
                 .step = -3,
                 .no_vectors = "a",
                 .no_writing = "b",
                 .no_scores = "c",
                 .notes = {"x", ""},
                 .task = "qa",
                 .fields = {"question", "context"},
                 .labels = {"", "<b>"},
                 .band = "decide.band",
                 .proposal = "intent.label"},
      ServeAnswers{{{.id = 2, .outcome = ServeOutcome::refused, .tokens = 9, .text = "why"},
                    {.id = 3, .outcome = ServeOutcome::part, .text = std::string(70000, 'x')},
                    {.id = 4, .text = "vector", .facts = "{}", .members = R"({"windows":2})"}}}};
  return all;
}

std::string problem_of(const std::string& bytes) {
  ServeFrames frames;
  frames.add(bytes);
  try {
    while (frames.next()) {
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Returns a frame around any payload.
std::string framed(const std::string& payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t checksum = crc32(std::as_bytes(std::span(payload)));
  std::string frame(8, '\0');
  std::memcpy(frame.data(), &length, 4);
  std::memcpy(frame.data() + 4, &checksum, 4);
  return frame + payload;
}

TEST(ServeMessages, AreTransmittedWholeInAnyParts) {
  std::string bytes;
  for (const ServeMessage& message : samples()) bytes += serve_frame(message);
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    ServeFrames frames;
    std::vector<ServeMessage> received;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      frames.add(std::string_view(bytes).substr(at, part));
      while (auto message = frames.next()) received.push_back(std::move(*message));
    }
    EXPECT_EQ(received, samples()) << "in parts of " << part;
    EXPECT_TRUE(frames.empty());
  }
}

TEST(ServeMessages, AnyChangedByteIsNoticed) {
  const std::string frame = serve_frame(samples()[0]);
  for (std::size_t at = 0; at < frame.size(); ++at) {
    std::string changed = frame;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    ServeFrames frames;
    frames.add(changed);
    bool taken = false;
    try {
      taken = frames.next().has_value();  // a longer length waits for more
    } catch (const Error& error) {
      EXPECT_TRUE(
          std::string(error.what()).starts_with("the connection between exp and worker is damaged: "));
    }
    EXPECT_FALSE(taken) << "byte " << at;
  }
}

TEST(ServeMessages, HostilePayloadsAreRefused) {
  const auto refused = [](const std::string& payload, const std::string& why) {
    EXPECT_NE(problem_of(framed(payload)).find(why), std::string::npos) << problem_of(framed(payload));
  };
  refused(std::string("\x09", 1), "its kind is 9");
  refused(std::string("\x00\xFF\xFF\xFF\xFF", 5), "it lists more than it holds");
  refused(std::string("\x00\x01\x00\x00\x00", 5), "it lists more than it holds");
  refused(std::string("\x01\x01\x00\x00", 4), "it ends within a field");
  refused(serve_frame(samples()[2]).substr(8) + "x", "1 bytes follow its last field");
  std::string work = serve_frame(samples()[0]).substr(8);
  work[1 + 4 + 8] = 8;
  refused(work, "it asks for work 8");
  std::string flag = serve_frame(samples()[0]).substr(8);
  flag[1 + 4 + 8 + 1] = 2;
  refused(flag, "a flag is 2");
  EXPECT_NE(problem_of(std::string(8, '\xFF')).find("not a frame's length"), std::string::npos);
  EXPECT_NE(problem_of(std::string(8, '\0')).find("not a frame's length"), std::string::npos);
}

TEST(ServeMessages, RandomPayloadsAreTakenOrRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string payload = serve_frame(samples()[random() % 4]).substr(8);
    for (int k = 0; k < 3; ++k) payload[random() % payload.size()] = static_cast<char>(random());
    if (random() % 4 == 0) payload.resize(random() % payload.size() + 1);
    problem_of(framed(payload));
  }
}

}  // namespace
}  // namespace encore::record
