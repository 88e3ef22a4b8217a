// SPDX-License-Identifier: BSD-3-Clause
// The program peer_tool: runs single functions of Encore for the Python scripts beside it, which compare the
// answers with those of a Python package. Lines in, lines out; the scripts parse these forms, so a form
// changes in both places: wordpiece VOCAB cased|uncased   text lines -> the numbers of their tokens train
// VOCAB_SIZE cased|uncased  text lines (words parted by blanks) -> a trained vocabulary byte_bpe VOCAB 0|1
// text lines -> the numbers of their tokens; 1: with add_prefix_space train_byte_bpe VOCAB_SIZE       text
// lines (words parted by blanks) -> a trained vocabulary unigram VOCAB source|target     text lines -> tokens
// with their bytes in the text, "17:0:3" unigram_text VOCAB              numbers of tokens -> their text
// train_unigram VOCAB_SIZE        text lines (words parted by blanks) -> the lines of a trained vocabulary
// ner                             pairs of lines (true tags, predicted tags), blank line between corpora ->
// one JSON object per corpus text_scores                     one JSON object {written, references} per line
// and corpus -> one JSON object with the scores of each
#include <cstdint>
#include <exception>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "byte_bpe.hpp"
#include "data/vocabulary.hpp"
#include "measures.hpp"
#include "ngrams/text_scores.hpp"
#include "wordpiece.hpp"
#ifdef ENCORE_HAVE_SENTENCEPIECE
#include "unigram.hpp"
#endif

namespace {

using encore::wordpiece::WordPiece;

using encore::Tokenizer;
using encore::byte_bpe::ByteBpe;

WordPiece make_wordpiece(const std::string& option, encore::OptionValue value, const std::string& casing) {
  encore::Options options;
  options.set(option, std::move(value));
  options.set("min_frequency", std::int64_t{2});
  options.set("lowercase", casing == "uncased");
  return WordPiece(options, {});
}

ByteBpe make_byte_bpe(const std::string& option, encore::OptionValue value, bool add_prefix_space) {
  encore::Options options;
  options.set(option, std::move(value));
  options.set("min_frequency", std::int64_t{2});
  options.set("add_prefix_space", add_prefix_space);
  return ByteBpe(options, {});
}

void print_tokens(Tokenizer&& tokenizer, const std::string& vocabulary) {
  tokenizer.load(encore::data::load_vocabulary(vocabulary));
  std::vector<std::int32_t> tokens;
  for (std::string line; std::getline(std::cin, line);) {
    tokens.clear();
    tokenizer.encode(line, tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) std::cout << (i == 0 ? "" : " ") << tokens[i];
    std::cout << '\n';
  }
}

void print_vocabulary(Tokenizer&& tokenizer) {
  std::map<std::string, std::int64_t> words;
  for (std::string word; std::cin >> word;) ++words[word];
  tokenizer.train(words);
  for (const std::string& token : tokenizer.vocabulary()) std::cout << token << '\n';
}

#ifdef ENCORE_HAVE_SENTENCEPIECE
std::unique_ptr<Tokenizer> make_unigram(const std::string& option, encore::OptionValue value) {
  encore::Options options;
  options.set(option, std::move(value));
  options.set("character_coverage", 1.0);
  options.set("byte_fallback", false);
  return std::make_unique<encore::unigram::Unigram>(options, encore::TokenizerContext());
}

std::unique_ptr<Tokenizer> load_unigram(const std::string& vocabulary) {
  std::unique_ptr<Tokenizer> tokenizer = make_unigram("vocab", vocabulary);
  tokenizer->load(encore::data::load_vocabulary(vocabulary));
  return tokenizer;
}

void print_ranges(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> tokens;
  std::vector<encore::ByteRange> ranges;
  for (std::string line; std::getline(std::cin, line);) {
    tokens.clear();
    ranges.clear();
    tokenizer.encode(line, tokens, ranges);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      std::cout << (i == 0 ? "" : " ") << tokens[i] << ':' << ranges[i].begin << ':' << ranges[i].end;
    std::cout << '\n';
  }
}

void print_texts(const Tokenizer& tokenizer) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    const std::vector<std::int32_t> tokens(std::istream_iterator<std::int32_t>(numbers), {});
    std::cout << tokenizer.decode(tokens) << '\n';
  }
}

void print_trained_lines(std::unique_ptr<Tokenizer> tokenizer) {
  std::map<std::string, std::int64_t> words;
  for (std::string word; std::cin >> word;) ++words[word];
  tokenizer->train(words);
  std::cout << encore::data::vocabulary_text(encore::vocabulary_lines_of(*tokenizer));
}
#endif

std::vector<std::string> split(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

void print_score(const encore::Statistics& statistics) {
  std::map<std::string, double> values;
  for (const auto& [name, value] : encore::measure_values(encore::ner::measures(), statistics))
    values[name] = value;
  std::map<std::string, double> truth;
  for (const encore::Statistics::Entry& entry : statistics.entries())
    if (statistics.columns()[entry.column] == "truth") truth[statistics.keys()[entry.key]] += entry.value;
  const auto three = [&](const std::string& suffix) {
    std::ostringstream text;
    text << std::setprecision(17) << values["precision" + suffix] << ", " << values["recall" + suffix] << ", "
         << values["f1" + suffix];
    return text.str();
  };
  std::cout << std::setprecision(17) << "{\"micro\": [" << three("")
            << "], \"macro_f1\": " << values["f1_macro"] << ", \"accuracy\": " << values["token_accuracy"]
            << ", \"types\": {";
  const char* comma = "";
  for (const auto& [type, count] : truth) {
    std::cout << comma << '"' << type << "\": [" << three("/" + type) << ", " << count << "]";
    comma = ", ";
  }
  std::cout << "}}\n";
}

void print_scores() {
  encore::Statistics statistics;
  for (std::string truth, predicted; std::getline(std::cin, truth);) {
    if (truth.empty()) {
      print_score(statistics);
      statistics = {};
      continue;
    }
    std::getline(std::cin, predicted);
    encore::ner::measure_sentence(split(truth), split(predicted), statistics);
  }
}

/// BLEU and chrF of each corpus, ROUGE of each of its examples.
void print_text_scores() {
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json corpus = nlohmann::json::parse(line);
    const std::vector<std::string> written = corpus.at("written"), references = corpus.at("references");
    encore::Statistics all;
    nlohmann::json scores, rouge = nlohmann::json::array();
    for (std::size_t i = 0; i < written.size(); ++i) {
      all.begin_example();
      encore::ngrams::add_translation(written[i], references[i], all);
      encore::Statistics one;
      one.begin_example();
      encore::ngrams::add_summary(written[i], references[i], one);
      nlohmann::json of_text = nlohmann::json::array();
      for (const encore::Measure& measure : encore::ngrams::summary_measures())
        of_text.push_back(encore::measure_value(measure, one));
      rouge.push_back(of_text);
    }
    for (const encore::Measure& measure : encore::ngrams::translation_measures())
      scores[measure.name] = encore::measure_value(measure, all);
    scores["rouge"] = rouge;
    std::cout << scores.dump() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 3 && arguments[0] == "wordpiece")
      print_tokens(make_wordpiece("vocab", arguments[1], arguments[2]), arguments[1]);
    else if (arguments.size() == 3 && arguments[0] == "train")
      print_vocabulary(make_wordpiece("vocab_size", std::int64_t{std::stoll(arguments[1])}, arguments[2]));
    else if (arguments.size() == 3 && arguments[0] == "byte_bpe")
      print_tokens(make_byte_bpe("vocab", arguments[1], arguments[2] == "1"), arguments[1]);
    else if (arguments.size() == 2 && arguments[0] == "train_byte_bpe")
      print_vocabulary(make_byte_bpe("vocab_size", std::int64_t{std::stoll(arguments[1])}, true));
#ifdef ENCORE_HAVE_SENTENCEPIECE
    else if (arguments.size() == 3 && arguments[0] == "unigram") {
      const std::unique_ptr<Tokenizer> tokenizer = load_unigram(arguments[1]);
      print_ranges(arguments[2] == "target" ? encore::target_tokenizer_of(*tokenizer) : *tokenizer);
    } else if (arguments.size() == 2 && arguments[0] == "unigram_text")
      print_texts(*load_unigram(arguments[1]));
    else if (arguments.size() == 2 && arguments[0] == "train_unigram")
      print_trained_lines(make_unigram("vocab_size", std::int64_t{std::stoll(arguments[1])}));
#endif
    else if (arguments.size() == 1 && arguments[0] == "ner")
      print_scores();
    else if (arguments.size() == 1 && arguments[0] == "text_scores")
      print_text_scores();
    else
      throw encore::Error("see the head of peer_tool.cpp for the arguments");
  } catch (const std::exception& error) {
    std::cerr << "peer_tool: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
