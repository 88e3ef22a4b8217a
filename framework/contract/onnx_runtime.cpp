// SPDX-License-Identifier: BSD-3-Clause
// Runs graphs of ONNX for onnx_check.cpp, which compares their results with those of the plugin's own
// kernels. OnnxRuns writes the graphs with their inputs into files of a temporary folder, runs all in one
// Python process, and reads the results. Files of values are float64, in which float32 is exact, and integers
// up to 2^53. The Python code must not need more than onnxruntime and NumPy. Read onnx_runtime.hpp first.
#include "contract/onnx_runtime.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "contract/suite.hpp"

namespace encore::contract {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The exit code of the script if onnxruntime or NumPy is missing; the log then has the message of Python.
/// The script below has the same number.
constexpr int package_missing = 77;

/// The Python script: runs model.onnx in every folder below argv[1] with the arrays of feeds.json, and writes
/// results.json.
constexpr const char* script = R"(
import json, os, sys
try:
    import numpy, onnxruntime
except ImportError as error:
    print(error)
    sys.exit(77)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 4
types = {"float32": numpy.float32, "int64": numpy.int64}
for name in sorted(os.listdir(sys.argv[1])):
    folder = os.path.join(sys.argv[1], name)
    if not os.path.isdir(folder):
        continue
    results = {}
    try:
        with open(os.path.join(folder, "feeds.json")) as file:
            feeds = json.load(file)
        session = onnxruntime.InferenceSession(
            os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])
        arrays = {}
        for entry in session.get_inputs():
            feed = feeds[entry.name]
            arrays[entry.name] = numpy.fromfile(
                os.path.join(folder, feed["file"]), numpy.float64).astype(types[feed["type"]]).reshape(feed["shape"])
        outputs = session.run(None, arrays)
        results["outputs"] = {}
        for number, (entry, values) in enumerate(zip(session.get_outputs(), outputs)):
            file = "output%d" % number
            values.astype(numpy.float64).tofile(os.path.join(folder, file))
            results["outputs"][entry.name] = {"file": file, "shape": list(values.shape)}
    except Exception as error:
        results = {"error": str(error)}
    with open(os.path.join(folder, "results.json"), "w") as file:
        json.dump(results, file)
)";

void write_values(const fs::path& file, const std::vector<double>& values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!out.flush()) throw Error(file.string() + ": cannot be written");
}

std::vector<double> read_values(const fs::path& file, const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const std::string bytes = load_file(file, "output of onnxruntime");
  if (bytes.size() != count * sizeof(double))
    throw Error(file.string() + ": has " + std::to_string(bytes.size()) + " bytes, expected " +
                std::to_string(count * sizeof(double)));
  std::vector<double> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Returns the output of Python, without the last newlines.
std::string printed_text(const fs::path& file) {
  std::string text = load_file(file, "output of python3");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Returns the exit code of `python3 -c script folder`, whose output is written to the log. Throws NotChecked
/// if there is no python3.
int run_python(const fs::path& folder, const fs::path& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::string program = "python3", option = "-c", code = script, argument = folder.string();
  char* arguments[] = {program.data(), option.data(), code.data(), argument.data(), nullptr};
  pid_t child = -1;
  const int problem = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw NotChecked(std::string("python3 cannot be started: ") + std::strerror(problem));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Error("cannot wait for python3");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

OnnxRuns::OnnxRuns() {
  std::string pattern = (fs::temp_directory_path() / "encore-onnx-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make the folder " + pattern);
  folder_ = pattern;
}

OnnxRuns::~OnnxRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void OnnxRuns::add(const onnx_graph::OnnxModel& model, const std::map<std::string, OnnxFeed>& feeds) {
  const std::string number = std::to_string(runs_.size());
  runs_.push_back(folder_ / (std::string(8 - number.size(), '0') + number));
  fs::create_directory(runs_.back());
  onnx_graph::save_onnx(runs_.back(), model, onnx_graph::OnnxWeights::inside);
  json list = json::object();
  for (const onnx_graph::OnnxPort& port : model.inputs) {
    const auto feed = feeds.find(port.name);
    if (feed == feeds.end())
      throw Error("the ONNX form has an input \"" + port.name + "\", which is unknown");
    const std::string file = "input" + std::to_string(list.size());
    write_values(runs_.back() / file, feed->second.values);
    list[port.name] = {{"file", file},
                       {"type", feed->second.type == onnx_graph::OnnxType::float32 ? "float32" : "int64"},
                       {"shape", feed->second.shape}};
  }
  std::ofstream(runs_.back() / "feeds.json") << list;
}

std::vector<OnnxResult> OnnxRuns::run() const {
  const fs::path log = folder_ / "printed.txt";
  const int code = run_python(folder_, log);
  if (code == package_missing)
    throw NotChecked("python3 cannot import onnxruntime and NumPy, which run the ONNX form (" +
                     printed_text(log) +
                     "); pip install onnxruntime, for the Python that is the first on PATH, makes the "
                     "comparison possible");
  if (code != 0)
    throw NotChecked("python3 ended with exit code " + std::to_string(code) + ": " + printed_text(log));
  std::vector<OnnxResult> all;
  for (const fs::path& folder : runs_) {
    const json results = parse_json(load_file(folder / "results.json", "results of onnxruntime"));
    OnnxResult& result = all.emplace_back();
    if (results.contains("error")) {
      result.refusal = results["error"].get<std::string>();
      continue;
    }
    for (const auto& [name, output] : results["outputs"].items()) {
      OnnxFeed& values = result.outputs[name];
      values.type = onnx_graph::OnnxType::float32;
      values.shape = output["shape"].get<std::vector<std::int64_t>>();
      values.values = read_values(folder / output["file"].get<std::string>(), values.shape);
    }
  }
  return all;
}

}  // namespace encore::contract
