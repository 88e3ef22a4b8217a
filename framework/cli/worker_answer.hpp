// What a worker answers to a question about a trained model, as JSON on its standard output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace encore {

/// Runs the worker to its end, with `input` on its standard input, and shows how far it is
/// (record/answer_progress.hpp, cli/progress_line.hpp); what it says beside its answer goes to the standard
/// error. Throws Error with its own message where it refuses.
std::string worker_answer_text(const std::filesystem::path& worker, const std::vector<std::string>& arguments,
                               const std::string& input = "");
/// The same, read.
nlohmann::ordered_json worker_answer(const std::filesystem::path& worker,
                                     const std::vector<std::string>& arguments,
                                     const std::string& input = "");

}  // namespace encore
