// SPDX-License-Identifier: BSD-3-Clause
// Target: one kind of foreign file or value, and the code that reads it. Each target is in a file of its own,
// and fuzz.cpp mutates, runs and reports. Also NamedInput, for targets that read several kinds of files. A
// new target is declared here, listed in file_targets.cpp, and named in CMakeLists.txt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/mutator.hpp"

namespace encore::fuzz {

class Target {
 public:
  virtual ~Target() = default;

  /// Returns the name on the command line, and of the folder below findings/.
  virtual std::string name() const = 0;
  /// Returns the inputs from which mutations start: correct ones, at least one.
  virtual std::vector<std::string> corpus() = 0;
  /// Changes `input`, a copy of one of the inputs in `others`, which are the corpus.
  virtual void mutate(std::string& input, const std::vector<std::string>& others, Random& random) = 0;
  /// Reads the input as the programs do. Throws encore::Error if it rejects the input; any other exception,
  /// every signal and every report of a sanitizer is a finding. Cases share the state of the process and must
  /// not depend on each other.
  virtual void take(const std::string& input) = 0;
};

/// The content of one file with its name on the first line. A mutation changes the content and keeps the
/// name.
struct NamedInput {
  std::string name, content;

  static NamedInput of(const std::string& input) {
    const std::size_t end = input.find('\n');
    if (end == std::string::npos) return {input, ""};
    return {input.substr(0, end), input.substr(end + 1)};
  }
  std::string text() const { return name + "\n" + content; }
};

/// Returns the targets of the program: file_targets.cpp for fuzz, verbs_target.cpp for fuzz_verbs.
std::vector<std::unique_ptr<Target>> make_targets();

std::unique_ptr<Target> make_toml_target();
std::unique_ptr<Target> make_conll_target();
std::unique_ptr<Target> make_squad_target();
std::unique_ptr<Target> make_spool_target();
std::unique_ptr<Target> make_manifest_target();
std::unique_ptr<Target> make_safetensors_target();
std::unique_ptr<Target> make_sentencepiece_target();
std::unique_ptr<Target> make_bundle_target();
std::unique_ptr<Target> make_database_target();
std::unique_ptr<Target> make_pretrained_target();
std::unique_ptr<Target> make_tokenizer_target();
std::unique_ptr<Target> make_http_target();
std::unique_ptr<Target> make_frames_target();
std::unique_ptr<Target> make_onnx_target();
std::unique_ptr<Target> make_site_target();
std::unique_ptr<Target> make_records_target();

}  // namespace encore::fuzz
