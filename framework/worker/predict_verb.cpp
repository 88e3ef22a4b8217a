// SPDX-License-Identifier: BSD-3-Clause
// The verb predict: reads lines of text from standard input and writes the answers of the model's task, for
// `exp predict`. Lines that have arrived are processed together, so that a pipe is fast and a user at a
// terminal gets an answer after every line. An answer must not depend on the lines that are processed with it
// (make_batch_invariant).
#include <algorithm>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/device.hpp>
#include <encore/lines.hpp>

#include "base/utf8.hpp"
#include "infer/engine.hpp"
#include "tasks/prediction_file.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

constexpr std::size_t lines_at_once = 1024;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Returns all lines that have arrived, at least one unless the input has ended. Bytes are read up to an LF;
/// a CR alone also separates lines.
std::vector<std::string> read_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string bytes; lines.size() < lines_at_once && std::getline(in, bytes);) {
    if (!in.eof()) bytes += '\n';
    for (Lines parts(bytes); parts.next();) lines.emplace_back(parts.line());
    if (in.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

/// Throws Error unless the lines are UTF-8 like training files. `before` is the number of earlier lines, for
/// the message.
void require_utf8(const std::vector<std::string>& lines, std::int64_t before) {
  for (const std::string& line : lines) {
    ++before;
    if (find_invalid_utf8(line))
      throw Error("line " + std::to_string(before) +
                  " is not UTF-8; find the encoding of the text and convert it, for example with iconv -f "
                  "LATIN1 -t UTF-8");
  }
}

void write_text(std::ostream& out, const Records& answers) {
  for (const std::string& line : answers.texts(tasks::shown_field)) out << line << '\n';
}

void write_jsonl(std::ostream& out, const Records& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) out << tasks::answer_json(answers, i) << '\n';
}

/// Returns the records with the model's labels as their truth, as if a person had labelled the text that way.
Records labelled(const TaskFields& fields, const Records& records, Records predicted) {
  for (const Records::Field& field : records.fields())
    for (const std::vector<std::string>* names : {&fields.structure, &fields.optional})
      if (std::ranges::find(*names, field.name) != names->end()) predicted.add(field.name, field.values);
  return predicted;
}

}  // namespace

int predict_verb(const TrainedRunArguments& run, const std::string& format, infer::Scores scores) {
  const Device device;
  infer::Engine model(run.folder, run.plugin_folders, device, run.weights);
  model.make_batch_invariant();
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  const std::string& reader = model.experiment().data.reader.type;
  if (format != "text" && format != "jsonl" && format != reader)
    throw Error("--format is \"" + format + "\"; it must be text, jsonl or " + reader +
                ", the format of the data that this run was trained with");
  if (const std::string none = model.no_scores(); scores == infer::Scores::with && !none.empty())
    throw Error(none);
  std::ios::sync_with_stdio(false);
  std::vector<char> buffer(1 << 20);
  std::cin.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));

  LeftOut left_out(model, "line");
  std::int64_t read = 0;
  for (FilePart part = FilePart::first;; part = FilePart::later) {
    std::vector<std::string> lines = read_lines(std::cin);
    if (part == FilePart::first && !lines.empty() && lines.front().starts_with(byte_order_mark))
      lines.front().erase(0, byte_order_mark.size());
    if (std::cin.bad()) throw Error("the text could not be read to its end");
    if (lines.empty()) return 0;
    require_utf8(lines, std::exchange(read, read + std::ssize(lines)));
    const Records records = model.task().from_text(lines);
    const tasks::EncodedSet set = model.encode(records);
    if (format == "text" || format == "jsonl") {  // also if the reader has that name
      const Records answers = model.answer(records, set, scores).answers;
      left_out.look_at(set.set);
      format == "text" ? write_text(answer_stream(), answers) : write_jsonl(answer_stream(), answers);
    } else {
      const Outputs outputs = model.run(set).outputs;
      left_out.look_at(set.set);
      answer_stream() << model.reader().write(
          labelled(model.fields(), records, model.task().label(records, set.set, outputs)), part);
    }
    require_answers_written();
  }
}

}  // namespace encore::worker
