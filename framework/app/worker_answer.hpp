// The answer of a worker about a trained model, as JSON on its standard output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/app.hpp"

namespace encore {

/// Runs the worker to its end, with `input` on its standard input. Its progress (record/answer_progress.hpp)
/// and other output go to `events`. Throws Error with the worker's message if it fails.
std::string worker_answer_text(Events& events, const std::filesystem::path& worker,
                               const std::vector<std::string>& arguments, const std::string& input = "");
/// The same as parsed JSON.
nlohmann::ordered_json worker_answer(Events& events, const std::filesystem::path& worker,
                                     const std::vector<std::string>& arguments,
                                     const std::string& input = "");

}  // namespace encore
