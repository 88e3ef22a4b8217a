// predict: text in, entities out. Lines are taken as they come and worked on together, so that a pipe runs at
// full speed and a person at a terminal gets an answer to every line.
#include <iostream>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "tasks/ner.hpp"
#include "train/trained_model.hpp"
#include "worker/text_words.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

constexpr std::size_t lines_at_once = 1024;

/// One line with its words; `words` point into `text`.
struct Line {
  std::string text;
  std::vector<TextWord> words;
};

/// At least one line unless the input has ended, and as many more as are there already.
std::vector<std::string> read_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < lines_at_once && std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    if (in.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

void write_text(std::ostream& out, const Line& line, const std::vector<NerEntity>& entities) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < line.words.size(); ++i) {
    if (i > 0) out << ' ';
    const bool starts = next < entities.size() && static_cast<std::size_t>(entities[next].begin) == i;
    if (starts) out << '[';
    out << line.words[i].text;
    if (next < entities.size() && static_cast<std::size_t>(entities[next].end) == i + 1)
      out << ' ' << entities[next++].type << ']';
  }
  out << '\n';
}

void write_jsonl(std::ostream& out, const Line& line, const std::vector<NerEntity>& entities) {
  nlohmann::json list = nlohmann::json::array();
  for (const NerEntity& entity : entities) {
    const TextWord& first = line.words[static_cast<std::size_t>(entity.begin)];
    const TextWord& last = line.words[static_cast<std::size_t>(entity.end - 1)];
    list.push_back({{"type", entity.type},
                    {"text", std::string(first.text.data(), last.text.data() + last.text.size())},
                    {"start", first.start},
                    {"end", last.end}});
  }
  out << nlohmann::json{{"text", line.text}, {"entities", list}}.dump(
             -1, ' ', false, nlohmann::json::error_handler_t::replace)
      << '\n';
}

void write_conll(std::ostream& out, const Line& line, const std::vector<std::string>& tags) {
  for (std::size_t i = 0; i < line.words.size(); ++i) out << line.words[i].text << '\t' << tags[i] << '\n';
  out << '\n';
}

/// The first line of which a part was not looked at: one warning is read, a thousand are not.
class CutLines {
 public:
  explicit CutLines(std::int64_t max_length) : max_length_(max_length) {}

  /// The next line, without `cut` of its words.
  void add(std::int32_t cut) {
    ++line_;
    if (cut == 0 || told_) return;
    told_ = true;
    std::cerr << "encore-worker: line " << line_ << " is longer than data.max_length = " << max_length_
              << " of the model: entities are not looked for in its last " << cut
              << (cut == 1 ? " word" : " words") << "; cut the text into sentences (told once)\n";
  }

 private:
  std::int64_t max_length_, line_ = 0;
  bool told_ = false;
};

}  // namespace

int predict_verb(const TrainedRunArguments& run, const std::string& format) {
  const Device device;
  TrainedModel model(run.folder, run.plugin_folders, device);
  std::ios::sync_with_stdio(false);
  std::vector<char> buffer(1 << 20);
  std::cin.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));

  CutLines cut_lines(model.experiment().data.max_length);
  for (;;) {
    std::vector<std::string> texts = read_lines(std::cin);
    if (std::cin.bad()) throw Error("the text could not be read to its end");
    if (texts.empty()) return 0;
    std::vector<Line> lines(texts.size());
    std::vector<std::vector<std::string>> words(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      lines[i].text = std::move(texts[i]);
      lines[i].words = split_words(lines[i].text);
      for (const TextWord& word : lines[i].words) words[i].emplace_back(word.text);
    }
    const EncodedSet encoded = encode_words(words, model.tokenizer(), model.experiment().data.max_length);
    const Evaluation evaluation = model.run(encoded.examples);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      cut_lines.add(encoded.examples[i].cut_words);
      std::vector<std::string> tags = tags_of(evaluation.predictions[i], model.labels());
      tags.resize(lines[i].words.size(), "O");
      const std::vector<NerEntity> entities = ner_entities(tags);
      if (format == "jsonl")
        write_jsonl(std::cout, lines[i], entities);
      else if (format == "conll")
        write_conll(std::cout, lines[i], tags);
      else
        write_text(std::cout, lines[i], entities);
    }
    std::cout.flush();
    if (!std::cout) throw Error("standard output was closed while the predictions were written");
  }
}

}  // namespace encore
