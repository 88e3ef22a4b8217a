// What a worker answers to a question about a trained model, as JSON on its standard output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/app.hpp"

namespace encore {

/// Runs the worker to its end, with `input` on its standard input. How far it is (record/answer_progress.hpp)
/// and what it says beside its answer go to `events`. Throws Error with its own message where it refuses.
std::string worker_answer_text(Events& events, const std::filesystem::path& worker,
                               const std::vector<std::string>& arguments, const std::string& input = "");
/// The same, read.
nlohmann::ordered_json worker_answer(Events& events, const std::filesystem::path& worker,
                                     const std::vector<std::string>& arguments,
                                     const std::string& input = "");

}  // namespace encore
