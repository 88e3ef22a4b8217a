// SPDX-License-Identifier: BSD-3-Clause
// The verb generate: continues prompts with a run's model, for `exp generate`. It reads one request from
// standard input (record/generate_request.hpp). A single output is written while it grows; several outputs
// are written at the end, one per line. As JSON the answer is one object: "step", "prompts" `[{prompt, texts:
// [{text, score, pieces, ended}]}]`, where `pieces` counts tokens; programs of users read it, so its members
// keep their names.
#include <limits.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "infer/decoded_text.hpp"
#include "infer/engine.hpp"
#include "record/generate_request.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

using nlohmann::ordered_json;
using Texts = std::vector<std::vector<GeneratedText>>;

/// The number of prompts whose answers are in memory at a time.
constexpr std::size_t prompts_at_once = 1024;

/// Writes UTF-8 in parts that end after a character. The system writes PIPE_BUF bytes at once or none of
/// them, so a signal never leaves half a character.
void write_characters(std::ostream& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t size = std::min<std::size_t>(text.size(), PIPE_BUF);
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    out << text.substr(0, size) << std::flush;
    text.remove_prefix(size);
  }
}

/// Writes a growing output up to the character that can no longer change.
class Stream {
 public:
  Stream(std::ostream& out, const std::vector<std::string>& stops) : out_(out), text_(stops) {}

  void grow(std::string_view said) { write_characters(out_, text_.next_of(said)); }
  void end(std::string_view said) {
    write_characters(out_, text_.rest_of(said));
    out_ << std::endl;
  }

 private:
  std::ostream& out_;
  infer::TextStreamer text_;
};

/// Returns the text on one line: line ends and backslashes are escaped as in C.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\n')
      line += "\\n";
    else if (letter == '\\')
      line += "\\\\";
    else
      line += letter;
  }
  return line;
}

void write_lines(std::ostream& out, const Texts& all) {
  for (const std::vector<GeneratedText>& texts : all)
    for (const GeneratedText& text : texts) write_characters(out, escaped(text.text) + '\n');
}

}  // namespace

int generate_verb(const TrainedRunArguments& run) {
  std::ios::sync_with_stdio(false);
  const record::GenerateRequest request =
      record::GenerateRequest::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const Device device;
  infer::Engine engine(run.folder, run.plugin_folders, device, run.weights);
  for (const std::string& note : engine.notes()) std::cerr << "encore-worker: " << note << '\n';
  const Decoding decoding = request.decoding.over(engine.task().decoding().value_or(Decoding()));
  if (const std::string wrong = record::contradiction_in(decoding, record::generate_options); !wrong.empty())
    throw Error(wrong);
  const bool streams = !request.json && request.prompts.size() == 1 && decoding.texts == 1;

  ordered_json answer = {{"step", engine.step()}, {"prompts", ordered_json::array()}};
  for (std::size_t first = 0; first < request.prompts.size(); first += prompts_at_once) {
    const auto prompts =
        std::span(request.prompts).subspan(first, std::min(prompts_at_once, request.prompts.size() - first));
    const tasks::EncodedSet set = engine.encode(engine.task().from_text(prompts));
    Stream stream(answer_stream(), decoding.stop);
    infer::Generator::Seen seen;
    if (streams) seen = [&](std::size_t, std::size_t, std::string_view said) { stream.grow(said); };
    require_whole_prompts(engine, set.set, first);
    const Texts texts = engine.generate(set, decoding, seen);
    if (streams)
      stream.end(texts[0][0].text);
    else if (!request.json)
      write_lines(answer_stream(), texts);
    for (std::size_t i = 0; i < prompts.size() && request.json; ++i)
      answer["prompts"].push_back({{"prompt", prompts[i]}, {"texts", written_json(texts[i])}});
  }
  if (request.json)
    answer_stream() << answer.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  return 0;
}

}  // namespace encore::worker
