// SPDX-License-Identifier: BSD-3-Clause
// The program wordpiece_speed: measures the seconds that WordPiece (plugins/tokenizers/wordpiece.cpp) needs
// for all lines of standard input, once per repetition, on one thread; reading and printing are not counted.
// Prints a JSON object with the raw samples and the number of tokens. against_tokenizers.py starts
// it and reads this JSON.
//   wordpiece_speed VOCAB cased|uncased REPETITIONS < text
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/vocabulary.hpp"
#include "wordpiece.hpp"

namespace {

struct Sample {
  double wall = 0.0, cpu = 0.0;  ///< seconds
};

template <class Work>
Sample measured(const Work& work) {
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

nlohmann::json measure(const std::string& vocabulary, bool lowercase, int repetitions) {
  encore::Options options;
  options.set("vocab", vocabulary);
  options.set("min_frequency", std::int64_t{2});
  options.set("lowercase", lowercase);
  encore::wordpiece::WordPiece tokenizer(options, {});
  tokenizer.load(encore::data::load_vocabulary(vocabulary));
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(std::move(line));

  nlohmann::json wall = nlohmann::json::array(), cpu = nlohmann::json::array();
  std::vector<std::vector<std::int32_t>> tokens;
  for (int i = 0; i < repetitions; ++i) {
    tokens.assign(lines.size(), {});
    const Sample sample = measured([&] {
      for (std::size_t line = 0; line < lines.size(); ++line) tokenizer.encode(lines[line], tokens[line]);
    });
    wall.push_back(sample.wall);
    cpu.push_back(sample.cpu);
  }
  std::size_t count = 0;
  for (const auto& line : tokens) count += line.size();
  return {{"lines", lines.size()}, {"pieces", count}, {"wall", wall}, {"cpu", cpu}};
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::string letters = count == 4 ? arguments[2] : "";
    const int repetitions = count == 4 ? std::atoi(arguments[3]) : 0;
    if ((letters != "cased" && letters != "uncased") || repetitions < 1)
      throw encore::Error("expected: wordpiece_speed VOCAB cased|uncased REPETITIONS < text");
    std::cout << measure(arguments[1], letters == "uncased", repetitions) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "wordpiece_speed: " << error.what() << '\n';
    return 2;
  }
}
