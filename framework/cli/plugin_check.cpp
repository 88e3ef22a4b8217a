// plugin check: puts a plugin through the contract suite. Workers do it, as child processes: one runs every
// check, two more compute the digests with other numbers of threads, and a plugin that crashes takes only its
// worker along.
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/plugin_passes.hpp"
#include "cli/plugin_verb.hpp"
#include "cli/terminal.hpp"
#include "data/hash.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

using nlohmann::json;

/// What one worker has said.
struct Answer {
  std::map<std::string, std::string> digests;
  std::string doing = "starting";  ///< the last thing it announced
  bool finished = false;           ///< it came to its end, whatever it found
};

/// Cuts what a worker writes into lines and reads each.
class LineReader {
 public:
  explicit LineReader(std::function<void(const json&)> read) : read_(std::move(read)) {}
  void operator()(std::string_view text) {
    rest_ += text;
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      json line = json::parse(rest_.substr(0, end), nullptr, false);
      if (!line.is_discarded() && line.is_object()) read_(line);  // else: what the plugin printed
    }
  }

 private:
  std::function<void(const json&)> read_;
  std::string rest_;
};

class PluginCheck {
 public:
  PluginCheck(std::filesystem::path file, std::string backend, std::chrono::seconds patience, bool as_json)
      : file_(std::move(file)), backend_(std::move(backend)), patience_(patience), as_json_(as_json) {}

  int run() {
    require_files();
    const std::string before = sha256_of_file(file_);
    const Answer one = ask(1, false);
    if (backend_ == "openmp" && !unfinished_) compare_threads(one);
    if (as_json_)
      std::cout << json{{"file", file_.string()}, {"passed", failed_ == 0}, {"checks", all_}}.dump(1) << '\n';
    else
      std::cout << (failed_ == 0 ? std::to_string(all_.size()) + " checks passed\n"
                                 : std::to_string(failed_) + " of " + std::to_string(all_.size()) +
                                       " checks failed\n");
    // Of a file that was built again meanwhile nothing is known.
    if (failed_ == 0 && sha256_of_file(file_) == before) note_pass(file_, before, backend_, all_.size());
    return failed_ == 0 ? exit_done : exit_failed;
  }

 private:
  void require_files() const {
    if (!std::filesystem::exists(file_))
      throw Error(file_.string() + ": no such file; build the plugin first: exp plugin build DIR");
    const std::filesystem::path manifest = std::filesystem::path(file_).replace_extension(".json");
    if (!std::filesystem::exists(manifest))
      throw Error(file_.string() + ": has no manifest " + manifest.filename().string() +
                  " beside it; exp plugin build writes it, or by hand: encore-manifest " + file_.string() +
                  " " + manifest.string());
  }

  Answer ask(int threads, bool only_digests) {
    Answer answer;
    LineReader reader([&](const json& line) {
      if (line.contains("opening")) answer.doing = "opening the plugin";
      if (line.contains("begin"))
        answer.doing = line["begin"].get<std::string>() + ", " + line["check"].get<std::string>();
      if (line.contains("digest"))
        answer.digests[line["digest"].get<std::string>()] = line["value"].get<std::string>();
      if (line.contains("passed")) report(line);
      if (line.contains("finished")) answer.finished = true;
    });
    std::vector<std::string> arguments = {"check-plugin", "--file", file_.string(), "--threads",
                                          std::to_string(threads)};
    if (only_digests) arguments.emplace_back("--digests");
    const ProgramOutput output = run_program(
        worker_program(installed_programs(), backend_), arguments, "",
        [&](std::string_view text) { reader(text); }, patience_);
    if (!answer.finished) {
      unfinished_ = true;
      report({{"subject", file_.filename().string()},
              {"check", answer.doing},
              {"passed", false},
              {"detail", why_unfinished(output)}});
    }
    return answer;
  }

  /// The worker's own words where it has refused the plugin; otherwise the plugin ended it.
  std::string why_unfinished(const ProgramOutput& output) const {
    if (output.silent)
      return "nothing was heard of it for " + std::to_string(patience_.count()) +
             " s, so its worker was ended; if it only needs longer, --patience SECONDS grants it";
    if (output.end.signal != 0) return "the plugin crashed its worker: " + output.end.text();
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
          differing.try_emplace(subject, name.substr(subject.size() + 1) + " has other bits with " +
                                             std::to_string(threads) + " threads than with 1");
      }
    }
    for (const auto& [subject, count] : compared) {
      const auto found = differing.find(subject);
      report({{"subject", subject},
              {"check", "threads"},
              {"passed", found == differing.end()},
              {"detail", found == differing.end()
                             ? std::to_string(count) + " comparisons of 1 with 2 and 3 threads, equal bits"
                             : found->second}});
    }
  }

  void report(const json& finding) {
    all_.push_back(finding);
    const bool passed = finding["passed"].get<bool>();
    if (!passed) ++failed_;
    if (as_json_) return;
    const Terminal terminal = terminal_of(stdout);
    std::cout << (passed ? styled(terminal, Style::green, "ok    ") : styled(terminal, Style::red, "FAIL  "))
              << finding["subject"].get<std::string>() << ": " << finding["check"].get<std::string>() << ": "
              << printable_lines(finding["detail"].get<std::string>()) << std::endl;
  }

  std::filesystem::path file_;
  std::string backend_;
  std::chrono::seconds patience_;
  bool as_json_;
  bool unfinished_ = false;
  int failed_ = 0;
  std::vector<json> all_;
};

}  // namespace

int plugin_check(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "plugin check",
      {"plugin check FILE.so [options]",
       "Runs the contract suite on everything a plugin offers, in child processes: options and their "
       "refusals,\n"
       "gradients in double against differences, equal bits for a seed and for 1, 2 and 3 threads, empty, "
       "short and\n"
       "long sequences, every precision, no allocation in a step, labels of kernels. Exit 1 when a check "
       "fails.",
       {{"exp plugin check my_layers/build/openmp/plugins/my_layers.so",
         "before it is used in an experiment"}}});
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip: whose worker opens it (default: that of this exp)");
  line.options()("patience", po::value<int>()->value_name("SECONDS")->default_value(300),
                 "a check that is silent for so long has failed: the plugin hangs");
  line.options()("json", po::bool_switch(), "as JSON");
  line.positional("file");
  if (!line.parse(arguments)) return exit_done;
  const std::string backend = backend_of(line, installed_programs());
  if (line.integer("patience") < 1)
    throw UsageError("--patience " + std::to_string(line.integer("patience")) +
                     " would end every check; give at least 1");
  return PluginCheck(line.required("file", "the shared object of a plugin"), backend,
                     std::chrono::seconds(line.integer("patience")), line.flag("json"))
      .run();
}

}  // namespace encore
