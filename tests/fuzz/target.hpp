// Target: one kind of foreign file or value, and the code that reads it. Each has a file of its own; fuzz.cpp
// mutates, runs and reports.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/mutator.hpp"

namespace encore::fuzz {

class Target {
 public:
  virtual ~Target() = default;

  virtual std::string name() const = 0;
  /// Returns the inputs from which mutations start: correct ones, at least one.
  virtual std::vector<std::string> corpus() = 0;
  /// `others` is the corpus.
  virtual void mutate(std::string& input, const std::vector<std::string>& others, Random& random) = 0;
  /// Reads the input as the programs do. Throws encore::Error if it rejects the input; any other exception,
  /// every signal and every report of a sanitizer is a finding. Cases share the state of the process and must
  /// not depend on each other.
  virtual void take(const std::string& input) = 0;
};

/// Returns the targets of the program: file_targets.cpp, verbs_target.cpp.
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
