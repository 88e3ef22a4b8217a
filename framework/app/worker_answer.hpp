// SPDX-License-Identifier: BSD-3-Clause
// worker_answer() starts a worker with arguments about a trained model, relays its progress, and returns its
// answer: JSON on the worker's standard output. embed, evaluate, quantize and retrain call it.
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
/// Returns the answer of worker_answer_text() as parsed JSON.
nlohmann::ordered_json worker_answer(Events& events, const std::filesystem::path& worker,
                                     const std::vector<std::string>& arguments,
                                     const std::string& input = "");

}  // namespace encore
