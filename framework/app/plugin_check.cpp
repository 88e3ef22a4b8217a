// SPDX-License-Identifier: BSD-3-Clause
// `exp plugin check`: starts workers with a plugin and reads the results of its checks, line by line.
// cli/plugin_check.cpp calls check_plugin(). The lines are JSON, a contract with
// worker/check_plugin_verb.cpp; other lines come from the plugin and are skipped. A crash or a hang must
// never end this process or skip a check silently. Read next: plugin_check.hpp.
#include "app/plugin_check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/backend.hpp"
#include "app/plugin_passes.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "config/catalogue.hpp"
#include "config/override.hpp"
#include "record/crash_line.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

namespace {

using nlohmann::json;

/// The name of a check of the suite, such as `layer "highway": gradients`.
struct CheckName {
  std::string subject;
  std::string check;

  std::string text() const { return subject + ": " + check; }
  friend bool operator==(const CheckName&, const CheckName&) = default;
};

/// The output of one worker.
struct Answer {
  std::map<std::string, std::string> digests;
  CheckName doing;        ///< the last check that it began
  bool finished = false;  ///< it reached the end of the suite
};

/// Splits the output of a worker into lines and parses each.
class LineReader {
 public:
  explicit LineReader(std::function<void(const json&)> read) : read_(std::move(read)) {}
  void operator()(std::string_view text) {
    rest_ += text;
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      const json line = json_or_null(rest_.substr(0, end));
      if (line.is_object()) read_(line);  // other lines were printed by the plugin
    }
  }

 private:
  std::function<void(const json&)> read_;
  std::string rest_;
};

class PluginCheck {
 public:
  PluginCheck(const PluginCheckRequest& request, CheckEvents& events)
      : request_(request),
        file_(request.file),
        backend_(backend_of(request.backend, runner::installed_programs())),
        timeout_(request.timeout),
        events_(events) {}

  CheckResult run() {
    require_files();
    runner::require_component(runner::installed_programs(), backend_, "encore-worker-check-plugin");
    find_reader();
    const std::string before = sha256_of_file(file_);
    const Answer one = ask(1, false);
    if (!one.digests.empty() && backend_ == "openmp" && !unfinished_) compare_threads(one);
    skip_what_is_left();
    // A file that was built again meanwhile has not passed.
    if (failed_ == 0 && sha256_of_file(file_) == before) note_pass(file_, before, backend_, all_.size());
    return {.checks = all_,
            .failed = failed_,
            .skipped = skipped_,
            .unchecked = unchecked_,
            .opened = !planned_.empty()};
  }

 private:
  void require_files() const {
    if (!std::filesystem::exists(file_))
      throw Error(file_.string() + ": no such file; build the plugin first: exp plugin build DIR");
    for (const std::string& data : request_.data)
      if (!std::filesystem::is_regular_file(data))
        throw Error(data + ": no such file; --data needs a file that a reader of the plugin can read");
    const std::filesystem::path manifest = std::filesystem::path(file_).replace_extension(".json");
    if (!std::filesystem::exists(manifest))
      throw Error(file_.string() + ": the manifest " + manifest.filename().string() +
                  " beside it is missing; run exp plugin build, or encore-manifest " + file_.string() + " " +
                  manifest.string());
  }

  /// Finds the reader of `-S data.type=NAME`, which may be one of another plugin, such as those that ship.
  void find_reader() {
    std::string type;
    for (const std::string& setting : request_.settings)
      if (const config::Override read = config::parse_override(setting);
          read.key == "data.type" && read.value.is_text())
        type = read.value.text();
    if (type.empty()) return;
    const config::Manifest own =
        config::load_manifest(std::filesystem::path(file_).replace_extension(".json"));
    const auto is_reader = [&](const config::ManifestOffer& offer) {
      return offer.kind == Kind::reader && offer.name == type;
    };
    if (std::ranges::any_of(own.offers, is_reader)) return;
    const runner::Programs programs = runner::installed_programs();
    const config::Catalogue catalogue = config::Catalogue::survey(
        runner::plugin_search_path({}, {}, programs, backend_), runner::fingerprint_of(programs, backend_));
    const config::Manifest* owner = catalogue.owner(Kind::reader, type);
    if (owner == nullptr) throw Error("-S data.type=" + type + ": " + catalogue.unknown(Kind::reader, type));
    reader_plugin_ = owner->library_path();
  }

  Answer ask(int threads, bool only_digests) {
    Answer answer{.digests = {}, .doing = {file_.filename().string(), "starting"}};
    LineReader reader([&](const json& line) {
      if (line.contains("opening")) answer.doing.check = "opening the plugin";
      if (line.contains("checks") && !only_digests) plan(line["checks"]);
      if (line.contains("begin")) {
        answer.doing = {line["begin"].get<std::string>(), line["check"].get<std::string>()};
        events_.began(answer.doing.text());
      }
      if (line.contains("digest"))
        answer.digests[line["digest"].get<std::string>()] = line["value"].get<std::string>();
      // Whether threads change bits is known only when all workers have answered.
      if (line.contains("passed") && !(line["check"] == "threads" && line["passed"].get<bool>()) &&
          !is_reported({line["subject"].get<std::string>(), line["check"].get<std::string>()}))
        report(line);
      if (line.contains("finished")) answer.finished = true;
    });
    std::vector<std::string> arguments = {"check-plugin", "--file", file_.string(), "--threads",
                                          std::to_string(threads)};
    if (only_digests) arguments.emplace_back("--digests");
    for (const std::string& data : request_.data) arguments.insert(arguments.end(), {"--data", data});
    for (const std::string& setting : request_.settings)
      arguments.insert(arguments.end(), {"--set", setting});
    if (!reader_plugin_.empty())
      arguments.insert(arguments.end(), {"--reader-plugin", reader_plugin_.string()});
    if (request_.width) arguments.insert(arguments.end(), {"--width", std::to_string(*request_.width)});
    if (request_.length) arguments.insert(arguments.end(), {"--length", std::to_string(*request_.length)});
    const runner::ProgramOutput output = runner::run_program(
        runner::worker_program(runner::installed_programs(), backend_), arguments, "",
        {.seen = [&](std::string_view text) { reader(text); },
         .waiting = [&](std::chrono::seconds time) { say_what_is_waited_for(answer.doing, time); },
         .timeout = timeout_});
    if (!answer.finished) {
      unfinished_ = true;
      report({{"subject", answer.doing.subject},
              {"check", answer.doing.check},
              {"passed", false},
              {"skipped", false},
              {"detail", why_unfinished(output)}});
    }
    return answer;
  }

  /// Stores the checks of the first worker. Only the backend openmp compares threads.
  void plan(const json& checks) {
    for (const json& check : checks)
      if (backend_ == "openmp" || check["check"] != "threads")
        planned_.push_back({check["subject"].get<std::string>(), check["check"].get<std::string>()});
  }

  void say_what_is_waited_for(const CheckName& doing, std::chrono::seconds time) {
    events_.waited(doing.text(), time);
  }

  /// Returns the worker's message if it refused the plugin; otherwise says how the plugin ended the worker.
  std::string why_unfinished(const runner::ProgramOutput& output) const {
    const std::optional<record::CrashLine> crash = record::find_crash_line(output.errors);
    const std::string where = crash ? " during " + crash->work : "";
    if (output.silent)
      return "no output for " + std::to_string(timeout_.count()) + " s, so its worker was stopped" + where +
             "; if the check needs longer, pass --timeout SECONDS";
    if (output.end.signal != 0) return "the plugin crashed its worker: " + output.end.text() + where;
    const std::string prefix = "encore-worker: ";
    const std::size_t said = output.errors.find(prefix);
    if (said == std::string::npos) return "the plugin ended its worker: " + output.end.text();
    std::string text = output.errors.substr(said + prefix.size());
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  void compare_threads(const Answer& one) {
    std::map<std::string, std::string> differing;  // subject -> what differs
    std::map<std::string, int> compared;
    for (const int threads : {2, 3}) {
      const Answer more = ask(threads, true);
      if (unfinished_) return;
      for (const auto& [name, digest] : one.digests) {
        const std::string subject = name.substr(0, name.find("\" ") + 1);
        ++compared[subject];
        const auto other = more.digests.find(name);
        if (other == more.digests.end() || other->second != digest)
          differing.try_emplace(subject, name.substr(subject.size() + 1) + " has different bits with " +
                                             std::to_string(threads) + " threads and with 1");
      }
    }
    for (const auto& [subject, count] : compared) {
      const auto found = differing.find(subject);
      report({{"subject", subject},
              {"check", "threads"},
              {"passed", found == differing.end()},
              {"skipped", false},
              {"detail", found == differing.end()
                             ? std::to_string(count) + " comparisons of 1 with 2 and 3 threads, equal bits"
                             : found->second}});
    }
  }

  /// Reports the checks that were not run because the worker ended early.
  void skip_what_is_left() {
    if (all_.empty()) return;
    const std::string before = all_.back()["check"].get<std::string>();
    for (const CheckName& check : planned_) {
      if (is_reported(check)) continue;
      report({{"subject", check.subject},
              {"check", check.check},
              {"passed", false},
              {"skipped", true},
              {"detail", "not run, because " + before + " ended the worker"}});
    }
  }

  bool is_reported(const CheckName& check) const {
    return std::ranges::any_of(all_, [&](const json& finding) {
      return finding["subject"] == check.subject && finding["check"] == check.check;
    });
  }

  void report(const json& finding) {
    all_.push_back(finding);
    const bool passed = finding["passed"].get<bool>(), skipped = finding["skipped"].get<bool>();
    if (skipped)
      ++skipped_;
    else if (!passed)
      ++failed_;
    else if (finding.value("unchecked", false))
      ++unchecked_;
    events_.found(finding);
  }

  const PluginCheckRequest& request_;
  std::filesystem::path file_, reader_plugin_;
  std::string backend_;
  std::chrono::seconds timeout_;
  CheckEvents& events_;
  std::vector<CheckName> planned_;
  bool unfinished_ = false;
  int failed_ = 0, skipped_ = 0, unchecked_ = 0;
  std::vector<json> all_;
};

}  // namespace

Form<PluginCheckRequest> plugin_check_form() {
  using R = PluginCheckRequest;
  return Form<R>(
             "plugin check",
             {"plugin check FILE.so [options]",
              "Runs the contract suite on all types of a plugin, in child processes: options and invalid "
              "options, gradients in double against finite differences, equal bits for a seed and for 1, 2 "
              "and 3 threads, empty, short and long sequences, every precision, no allocation in a step, "
              "labels of kernels; for tasks and readers also fields, equal numbers in any order and on four "
              "threads, and best measures for perfect outputs; for steps also equal answers alone and in a "
              "batch, and knowledge that is stored. Each cause is one FAIL: checks that fail for "
              "the same cause, or were not run, are listed as skipped. Exit code 1: a check failed.",
              {{"exp plugin check my_layers/build/openmp/plugins/my_layers.so",
                "check it before it is used in an experiment"},
               {"exp plugin check my_layers/build/openmp/plugins/my_layers.so --timeout 900",
                "allow 15 minutes for a slow check before it counts as hanging"},
               {"exp plugin check my_layers/build/openmp/plugins/my_layers.so --width 192 --length 96",
                "also check at the sizes of your model"}}})
      .option("backend", &R::backend, "NAME",
              "the worker that opens it: openmp, serial, cuda or hip (default: that of this exp)")
      .option("timeout", &R::timeout, "SECONDS",
              "a check fails after SECONDS without output: the plugin hangs, and its worker is stopped")
      .option("data", &R::data, "FILE",
              "a file for the readers of the plugin, and for its tasks and steps instead of the suite's "
              "samples (repeat it if one set has several files)")
      .option("set,S", &R::settings, "KEY=VALUE",
              "an option of the checked type, such as task.levels=5, or the reader of --data, such as "
              "data.type=tsv (may be repeated)")
      .option("width", &R::width, "N",
              "also check layers and heads at this width, instead of two large sizes")
      .option("length", &R::length, "N", "also check layers and heads with a sequence of N rows")
      .flag("json", &R::json, "as JSON")
      .argument("file", &R::file, "the shared object of a plugin")
      .least("timeout", 1, "invalid --timeout {}: expected at least 1")
      .least("width", 1, "invalid --width {}: expected a number of at least 1")
      .least("length", 1, "invalid --length {}: expected a number of at least 1");
}

CheckResult check_plugin(const PluginCheckRequest& request, CheckEvents& events) {
  return PluginCheck(request, events).run();
}

}  // namespace encore::app
