// SPDX-License-Identifier: BSD-3-Clause
// Implements teacher.hpp: loads the teacher of a run with [distil], and compares teacher and student: which
// token or label each column of the scores belongs to, and which text each row was read from.
// train/session.cpp and the worker's check call it. Read teacher.hpp first. The words of a message may
// change; a difference must never pass, because the student would learn from the scores of other classes or
// rows.
#include "infer/teacher.hpp"

#include <algorithm>
#include <filesystem>

#include "config/error.hpp"
#include "pretrained/content_hash.hpp"
#include "record/specification.hpp"

namespace encore::infer {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw config::ConfigError(record::teacher_role, "the teacher cannot teach this model: " + message);
}

std::string value_text(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  return "a list";
}

/// Options that name files are compared by the tokens that they give.
bool is_of_vocabulary(const std::string& option) {
  return option.starts_with("vocab");
}

/// Throws Error with the first place where two lists differ: `"PER" is number 3 of its labels, and "LOC"
/// here`.
void require_same_lists(const std::string& what, std::span<const std::string> its,
                        std::span<const std::string> own) {
  const std::size_t common = std::min(its.size(), own.size());
  for (std::size_t i = 0; i < common; ++i)
    if (its[i] != own[i])
      refuse("\"" + its[i] + "\" is number " + std::to_string(i + 1) + " of its " + what + ", and \"" +
             own[i] + "\" here");
  if (its.size() != own.size())
    refuse("it has " + std::to_string(its.size()) + " " + what + ", and there are " +
           std::to_string(own.size()) + " here; \"" + (its.size() > common ? its : own)[common] +
           "\" is only " + (its.size() > common ? "there" : "here"));
}

}  // namespace

std::unique_ptr<Engine> load_teacher(const record::Specification& student, const Device& device) {
  const auto weights = student.data.find(record::teacher_role);
  if (weights == student.data.end()) return nullptr;
  try {
    record::require_planned(weights->second, record::teacher_role,
                            pretrained::sha256_of_content(weights->second.path));
    return std::make_unique<Engine>(std::filesystem::path(weights->second.path).parent_path(),
                                    student.plugin_folders, device);
  } catch (const config::ConfigError&) {
    throw;
  } catch (const Error& error) {
    throw config::ConfigError(record::teacher_role,
                              std::string("the teacher cannot be loaded: ") + error.what());
  }
}

void require_same_tokens(const Engine& teacher, const config::TokenizerTable& table,
                         std::span<const std::string> lines) {
  const config::TokenizerTable& its = teacher.experiment().tokenizer;
  if (its.type != table.type)
    refuse("its tokenizer is \"" + its.type + "\", and tokenizer.type is \"" + table.type + "\" here");
  for (const auto& [name, value] : its.options.values()) {
    if (is_of_vocabulary(name)) continue;
    const auto own = table.options.values().find(name);
    if (own == table.options.values().end() || own->second != value)
      refuse("tokenizer." + name + " is " + value_text(value) + " there, and " +
             (own == table.options.values().end() ? std::string("not set") : value_text(own->second)) +
             " here");
  }
  if (!lines.empty()) require_same_lists("lines of vocabulary", teacher.vocabulary_lines(), lines);
}

void require_same_labels(const Engine& teacher, const std::vector<std::string>& labels) {
  require_same_lists("labels", teacher.task().labels(), labels);
}

void learn_from(model::Model& student, Engine& teacher) {
  try {
    student.learn_from(teacher.model());
  } catch (const Error& error) {
    refuse(error.what());
  }
}

}  // namespace encore::infer
