// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work for JSON from outside: any JSON (base/json_text.hpp), manifests of plugins, bodies that
// clients of `exp serve` send, and messages of workers, with expect_linear() of linear.hpp. A byte of JSON
// becomes up to 40 bytes of values: "[]," is a value of 16 bytes in a list that doubles, and a block of its
// own.
#include <cstring>
#include <span>

#include <nlohmann/json.hpp>

#include "base/crc32.hpp"
#include "base/json_text.hpp"
#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "config/manifest.hpp"
#include "record/generate_request.hpp"
#include "record/serve_messages.hpp"
#include "record/text_facts.hpp"
#include "serve/requests.hpp"

namespace encore::bounds {
namespace {

constexpr double json_memory = 60.0, json_steps = 600.0;

std::string members(std::size_t count) {
  return "{" + joined(count, [](std::size_t i) { return numbered("\"a", i) + "\":1"; }) + "}";
}

void read_both(const std::string& text) {
  count_json_values(text);
  parse_json(text);
  parse_json<nlohmann::ordered_json>(text);
}

TEST(JsonBounds, ManyMembers) {
  expect_linear({8000, json_steps, json_memory}, members, read_both);
}

TEST(JsonBounds, OneMemberManyTimes) {
  expect_linear(
      {8000, json_steps, json_memory},
      [](std::size_t n) { return "{" + repeated(n, "\"a\":1,") + "\"a\":2}"; }, read_both);
}

TEST(JsonBounds, ManyValues) {
  expect_linear(
      {20000, json_steps, json_memory}, [](std::size_t n) { return "[" + repeated(n, "0,") + "0]"; },
      read_both);
}

TEST(JsonBounds, ManyLists) {
  expect_linear(
      {20000, json_steps, json_memory}, [](std::size_t n) { return "[" + repeated(n, "[],") + "0]"; },
      read_both);
}

TEST(JsonBounds, ManyObjects) {
  expect_linear(
      {20000, json_steps, json_memory}, [](std::size_t n) { return "[" + repeated(n, "{},") + "0]"; },
      read_both);
}

TEST(JsonBounds, DeepLists) {
  expect_linear(
      {200, json_steps, json_memory},
      [](std::size_t n) { return "[" + repeated(n, repeated(98, "[") + repeated(98, "]") + ",") + "0]"; },
      read_both);
}

TEST(JsonBounds, ALongText) {
  expect_linear(
      {50000, json_steps, json_memory}, [](std::size_t n) { return "\"" + repeated(n, "\\u00e9") + "\""; },
      read_both);
}

TEST(JsonBounds, ALongTextWithoutAnEnd) {
  expect_linear(
      {50000, json_steps, json_memory, Outcome::refused},
      [](std::size_t n) { return "[\"" + repeated(n, "\\\\") + "\n"; }, read_both);
}

TEST(JsonBounds, ALongNumber) {
  expect_linear(
      {50000, json_steps, json_memory}, [](std::size_t n) { return "0." + repeated(n, "1"); }, read_both);
}

// --- manifests ---

std::string manifest_with(const std::string& offers) {
  return R"({"format":2,"name":"a","version":"1","fingerprint":"sdk=1;","library":"a.so","offers":[)" +
         offers + "]}";
}

void read_manifest(const std::string& text) {
  const config::Manifest manifest = config::manifest_from_json(parse_json(text));
  config::manifest_difference(manifest, manifest);
}

TEST(ManifestBounds, ManyOffers) {
  expect_linear(
      {1000, 2000.0, json_memory},
      [](std::size_t n) {
        return manifest_with(joined(n, [](std::size_t i) {
          return R"({"kind":"layer","name":)" + numbered("\"a", i) +
                 R"(","version":1,"summary":"","options":[]})";
        }));
      },
      read_manifest);
}

TEST(ManifestBounds, ManyOptions) {
  expect_linear(
      {2000, 2000.0, json_memory, Outcome::refused},
      [](std::size_t n) {
        return manifest_with(R"({"kind":"layer","name":"a","version":1,"summary":"","options":[)" +
                             joined(n,
                                    [](std::size_t i) {
                                      return R"({"name":)" + numbered("\"a", i) +
                                             R"(","type":"integer","default":1,"help":"h"})";
                                    }) +
                             "]}");
      },
      read_manifest);
}

// --- bodies of requests ---

const serve::Route& route_of(serve::RouteWork work) {
  for (const serve::Route& route : serve::routes())
    if (route.work == work) return route;
  throw std::logic_error("unknown route");
}

void read_request(const std::string& body) {
  serve::parse_request(route_of(serve::RouteWork::predict), body, {});
}

void read_completion(const std::string& body) {
  record::GenerateRequest::parse(
      serve::parse_request(route_of(serve::RouteWork::completions), body, {.texts = 1 << 20}).writing);
}

void read_feedback(const std::string& body) {
  serve::parse_feedback(route_of(serve::RouteWork::feedback), body);
}

constexpr double body_memory = 80.0, body_steps = 800.0;

TEST(BodyBounds, ManyInputs) {
  expect_linear(
      {4000, body_steps, body_memory, Outcome::refused},
      [](std::size_t n) { return "{\"inputs\":[" + repeated(n, "\"\",") + "\"\"]}"; }, read_request);
}

TEST(BodyBounds, ManyUnknownMembers) {
  expect_linear({4000, body_steps, body_memory, Outcome::refused}, members, read_request);
}

TEST(BodyBounds, ALongUnknownMember) {
  expect_linear(
      {100000, body_steps, body_memory, Outcome::refused},
      [](std::size_t n) { return "{\"" + repeated(n, "input") + "\":1}"; }, read_request);
}

TEST(BodyBounds, ManyPromptsAndStops) {
  expect_linear(
      {4000, body_steps, body_memory},
      [](std::size_t n) {
        return "{\"prompt\":[" + repeated(n, "\"\",") + "\"\"],\"stop\":[" + repeated(n, "\"a\",") +
               "\"a\"]}";
      },
      read_completion);
}

TEST(BodyBounds, FeedbackWithManyMembers) {
  expect_linear(
      {4000, body_steps, body_memory},
      [](std::size_t n) { return "{\"id\":\"a\",\"answer\":" + members(n) + "}"; }, read_feedback);
}

// --- messages of workers and spools ---

TEST(TextFactsBounds, ManyLabels) {
  expect_linear(
      {4000, 600.0, 60.0},
      [](std::size_t n) { return R"({"pieces":1,"unknown":0,"labels":)" + members(n) + "}"; },
      [](const std::string& text) { record::TextFacts::parse(text); });
}

std::size_t count_messages(const std::string& bytes) {
  record::ServeFrames frames;
  frames.add(bytes);
  std::size_t messages = 0;
  while (frames.next()) ++messages;
  return messages;
}

TEST(ServeFrameBounds, ManySmallFrames) {
  expect_linear(
      {100000, 40.0, 8.0},
      [](std::size_t n) { return repeated(n, record::serve_frame(record::ServeCancel{.id = 7})); },
      [](const std::string& bytes) { count_messages(bytes); });
}

TEST(ServeFrameBounds, ALongFrameInSmallParts) {
  expect_linear(
      {200000, 40.0, 8.0},
      [](std::size_t n) { return record::serve_frame(record::ServeBatch{{{.text = repeated(n, "a")}}}); },
      [](const std::string& bytes) {
        record::ServeFrames frames;
        for (std::size_t at = 0; at < bytes.size(); at += 16) {
          frames.add(std::string_view(bytes).substr(at, 16));
          frames.next();
        }
      });
}

/// A frame states the number of a list's members. Memory must be taken only as members are read, because the
/// number may be wrong.
TEST(ServeFrameBounds, AListThatIsShorterThanItsStatedLength) {
  expect_linear(
      {100000, 40.0, 8.0, Outcome::refused},
      [](std::size_t n) {
        record::ServeAnswers answers;
        answers.answers.emplace_back().text = std::string(n, '\xff');
        std::string frame = record::serve_frame(answers);
        const auto count = static_cast<std::uint32_t>(n / 5);
        std::memcpy(frame.data() + 9, &count, sizeof count);
        const std::uint32_t sum = crc32(std::as_bytes(std::span(frame).subspan(8)));
        std::memcpy(frame.data() + 4, &sum, sizeof sum);
        return frame;
      },
      [](const std::string& bytes) { count_messages(bytes); });
}

}  // namespace
}  // namespace encore::bounds
