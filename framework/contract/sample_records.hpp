// SPDX-License-Identifier: BSD-3-Clause
// Samples for the checks of tasks and readers: records whose content follows from the shared names of fields
// (encore/records.hpp), and SampleTokenizer, which can encode every text. task_checks.cpp, task_samples.cpp
// and reader_checks.cpp use them. A new shared field of encore/records.hpp needs a case in sample_records().
#pragma once

#include <string>
#include <vector>

#include <encore/records.hpp>
#include <encore/task.hpp>
#include <encore/tokenizer.hpp>

namespace encore::contract {

/// Which records: those of a training set, or those of another set, which has one new label.
enum class SampleSet : std::uint8_t { train, other };

/// Returns records with these fields: short sentences in several scripts, for every meaning of the shared
/// names. Throws Error for another name.
Records sample_records(const std::vector<std::string>& fields, SampleSet set);

/// Returns all fields that a task needs, structure first.
std::vector<std::string> all_fields(const TaskFields& needs);

/// Returns the records with only these of their fields.
Records with_fields(const Records& records, const std::vector<std::string>& fields);

/// Returns the records, then the others. Both have the same fields.
Records behind_each_other(const Records& records, const Records& others);

/// A token for every three bytes of a word, by their hash; `decode` cannot restore the bytes and returns the
/// numbers instead.
class SampleTokenizer final : public Tokenizer {
 public:
  static constexpr std::int32_t tokens = 100;

  SampleTokenizer() : vocabulary_(tokens, "piece") {}
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return vocabulary_; }
  std::optional<std::int32_t> find(Special role) const override { return static_cast<std::int32_t>(role); }
  std::string decode(std::span<const std::int32_t> numbers) const override;

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& to,
                     std::vector<ByteRange>* ranges) const override;

  std::vector<std::string> vocabulary_;
};

}  // namespace encore::contract
