// SPDX-License-Identifier: BSD-3-Clause
// Implements verb_helpers.hpp, which verbs of encore-worker call: writes progress lines at most a few times a
// second while a verb computes its answer, refuses prompts that are too long, and turns generated outputs
// into JSON. `exp` parses the lines and the JSON, so members keep their names. Read verb_helpers.hpp first.
#include "worker/verb_helpers.hpp"

#include <chrono>
#include <iostream>
#include <string_view>

#include <encore/error.hpp>
#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "tasks/prediction_file.hpp"
#include "worker/answers.hpp"

namespace encore::worker {

void tell_progress(const record::AnswerProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto interval = std::chrono::milliseconds(100);
  static Clock::time_point next = Clock::now();
  if (Clock::now() < next) return;
  next = Clock::now() + interval;
  answer_stream() << progress.line() << std::endl;
}

infer::EvaluationWatch telling_progress() {
  return [](const infer::EvaluationProgress& progress) {
    tell_progress({.what = progress.writes ? "written" : "scored",
                   .unit = progress.writes ? "texts" : "sequences",
                   .done = progress.done,
                   .all = progress.all});
  };
}

// --- lines and answers ---

namespace {

constexpr std::size_t lines_at_once = 1024;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

InputLines::InputLines(std::istream& in) : in_(in), buffer_(std::size_t{1} << 20) {
  std::ios::sync_with_stdio(false);
  in_.rdbuf()->pubsetbuf(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
}

std::vector<std::string> InputLines::next() {
  std::vector<std::string> lines;
  for (std::string bytes; lines.size() < lines_at_once && std::getline(in_, bytes);) {
    if (!in_.eof()) bytes += '\n';
    for (Lines parts(bytes); parts.next();) lines.emplace_back(parts.line());
    if (in_.rdbuf()->in_avail() <= 0) break;
  }
  if (in_.bad()) throw Error("the text could not be read to its end");
  if (read_ == 0 && !lines.empty() && lines.front().starts_with(byte_order_mark))
    lines.front().erase(0, byte_order_mark.size());
  for (const std::string& line : lines) {
    ++read_;
    if (find_invalid_utf8(line))
      throw Error("line " + std::to_string(read_) +
                  " is not UTF-8; find the encoding of the text and convert it, for example with iconv -f "
                  "LATIN1 -t UTF-8");
  }
  return lines;
}

void write_text_answers(const Records& answers) {
  for (const std::string& line : answers.texts(tasks::shown_field)) answer_stream() << line << '\n';
}

void write_json_answers(const Records& answers, std::span<const tasks::InputUse> uses) {
  for (std::size_t i = 0; i < answers.size(); ++i)
    answer_stream() << tasks::answer_json(answers, i, tasks::members_of(uses[i])) << '\n';
}

std::vector<tasks::InputUse> uses_of(const infer::Engine& engine, const ExampleSet& set) {
  std::vector<tasks::InputUse> uses;
  for (std::size_t i = 0; i < set.size(); ++i) uses.push_back(tasks::input_use(engine.task(), set, i));
  return uses;
}

LeftOut::LeftOut(std::string what, const infer::Engine& model)
    : LeftOut(std::move(what),
              "data.max_length = " + std::to_string(model.experiment().data.max_length) + " of the model") {}

void LeftOut::look_at(std::span<const tasks::InputUse> uses) {
  for (std::size_t i = 0; i < uses.size() && !found_; ++i) {
    ++number_;
    if (uses[i].left_out.empty()) continue;
    found_ = true;
    std::cerr << "encore-worker: " << what_ << ' ' << number_ << " is longer than " << limit_ << ": "
              << uses[i].left_out << "; cut the text into shorter " << what_ << "s (only the first such "
              << what_ << " is named)\n";
  }
}

// --- prompts ---

void require_whole_prompts(const infer::Engine& engine, const ExampleSet& set, std::size_t first) {
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set.sequences(i).count > 1 || !engine.task().left_out(set, i).empty())
      throw Error("prompt " + std::to_string(first + i + 1) + " is longer than data.max_length = " +
                  std::to_string(engine.experiment().data.max_length) + " of the model; shorten it");
}

nlohmann::ordered_json written_json(const std::vector<GeneratedText>& texts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const GeneratedText& text : texts)
    list.push_back(
        {{"text", text.text}, {"score", text.score}, {"pieces", text.tokens.size()}, {"ended", text.ended}});
  return list;
}

}  // namespace encore::worker
