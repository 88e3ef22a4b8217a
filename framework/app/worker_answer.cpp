// SPDX-License-Identifier: BSD-3-Clause
// worker_answer_text(): runs a worker that answers in JSON, and relays the progress before its answer.
// embed.cpp, evaluate.cpp, quantize.cpp, plan.cpp, plugin_view.cpp and retraining_comparison.cpp call it, as
// do cli/attention_verb.cpp and cli/export_verb.cpp. Lines of progress are defined in
// record/answer_progress.hpp and shared with workers of other builds. Read next: worker_answer.hpp.
#include "app/worker_answer.hpp"

#include "record/answer_progress.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

namespace {

/// Returns the error message of a worker without its prefix and line end. Libraries may have printed before
/// it.
std::string message_of(const runner::ProgramOutput& answer) {
  const std::string_view prefix = "encore-worker: ";
  std::string text = answer.errors;
  const std::size_t last = text.rfind("\n" + std::string(prefix));
  if (text.starts_with(prefix))
    text.erase(0, prefix.size());
  else if (last != std::string::npos)
    text.erase(0, last + 1 + prefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "the worker ended with " + answer.end.text() : text;
}

/// Reports the lines of progress, which precede the answer.
class AnswerWatch {
 public:
  explicit AnswerWatch(Events& events) : events_(events) {}
  void seen(std::string_view text) {
    while (!answering_ && !text.empty()) {
      const std::size_t end = text.find('\n');
      line_ += text.substr(0, end);
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
      const std::optional<record::AnswerProgress> progress = record::AnswerProgress::parse(line_);
      answering_ = !progress;
      if (progress) events_.progressed(progress->what, progress->done, progress->all, progress->unit);
      line_.clear();
    }
  }

 private:
  Events& events_;
  std::string line_;
  bool answering_ = false;
};

std::string_view without_progress(std::string_view output) {
  for (;;) {
    const std::size_t end = output.find('\n');
    if (end == std::string_view::npos || !record::AnswerProgress::parse(output.substr(0, end))) return output;
    output.remove_prefix(end + 1);
  }
}

}  // namespace

std::string worker_answer_text(Events& events, const std::filesystem::path& worker,
                               const std::vector<std::string>& arguments, const std::string& input) {
  runner::ProgramOutput answer;
  {
    const ProgressEnd end{events};
    AnswerWatch watch(events);
    answer = runner::run_program(worker, arguments, input,
                                 {.seen = [&](std::string_view text) { watch.seen(text); }});
  }
  if (answer.end.signal != 0) throw Error("the worker ended with " + answer.end.text());
  if (!answer.end.success()) throw Error(message_of(answer));
  if (!answer.errors.empty()) events.relayed(answer.errors);
  return std::string(without_progress(answer.output));
}

void refuse_answer(const std::filesystem::path& worker, const std::vector<std::string>& arguments,
                   const FieldError& error) {
  throw Error("the answer of " + worker.string() + " " + arguments.front() + ": " + error.what() +
              "; build exp and encore-worker from the same source");
}

}  // namespace encore::app
