// SPDX-License-Identifier: BSD-3-Clause
// The answers of a run to its development set, from predictions/dev.jsonl in the run's folder: which values
// its fields have. Place in the flow: train/ and apply/ write the file; `exp monitor --alerts` compares with
// it and checks the labels that rules name; the worker's serve reports only values that it has, so that no
// text of a request is stored. Read next: text_facts.hpp.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace encore::record {

/// The values that an answer has in each field as text, such as {"decide.band": ["review"]}. Those of a model
/// are in "label"; of spans these are the types.
using DevAnswer = std::map<std::string, std::vector<std::string>>;

/// The file with the answers, in a run's folder.
inline constexpr const char* dev_answers_file = "predictions/dev.jsonl";

/// Returns the answers in a file, or none if there is no such file. Throws Error that names the file and the
/// line if it is damaged. The caller decides whether the file is the recorded one.
std::vector<DevAnswer> read_dev_answers(const std::filesystem::path& path);

/// Returns the values of each field that has few: at most a thousand, each in two answers or more on average.
/// Such a field names a class; another one may repeat a part of the input.
std::map<std::string, std::set<std::string>> classes_in(const std::vector<DevAnswer>& answers);

}  // namespace encore::record
