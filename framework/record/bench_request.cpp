// SPDX-License-Identifier: BSD-3-Clause
// BenchRequest: reads and writes bench.json, and refuses a file of another format. A changed member needs a
// new request_format. runner/bench_run.cpp writes it, worker/bench_verb.cpp reads it. Read bench_request.hpp
// first.
#include "record/bench_request.hpp"

#include "base/input_file.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "world/atomic_file.hpp"

namespace encore::record {
namespace {

constexpr const char* request_name = "bench.json";
constexpr int request_format = 1;

}  // namespace

static void write_value(nlohmann::json& to, const Specification& specification) {
  to = specification.to_json();
}
static void read_value(const nlohmann::json& from, const JsonPlace&, Specification& specification) {
  specification = Specification::from_json(from);
}

static void list(auto& field, A<BenchCaseRequest> auto& one) {
  field("name", one.name);
  field("length", one.length);
  field("specification", one.specification);
}

/// Writes or reads the members. A file of another format is refused before the others are read.
static void list(auto& field, A<BenchRequest> auto& request) {
  int format = request_format;
  field("format", format);
  if (format != request_format)
    throw Error("format " + std::to_string(format) +
                " is not known; build exp and encore-worker from the same source");
  field("rounds", request.rounds);
  field("batches", request.batches);
  field("order_cost", request.order_cost);
  field("machine_precisions", request.machine_precisions);
  field("machine_sizes", request.machine_sizes);
  field("cases", request.cases);
}

nlohmann::json BenchRequest::to_json() const {
  return to_json_object(*this);
}

BenchRequest BenchRequest::from_json(const nlohmann::json& json) {
  return from_json_object<BenchRequest>(json);
}

void BenchRequest::save(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  world::save_file(folder / request_name, to_json().dump(2) + "\n");
}

BenchRequest BenchRequest::load(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / request_name;
  std::string text;
  try {
    text = read_file(path, most_json_bytes);
  } catch (const UnreadableFile& error) {
    if (!error.missing()) throw;
    throw Error("cannot read " + path.string() +
                ": the folder of a measurement holds this file; is this one?");
  }
  try {
    return from_json(parse_json(text));
  } catch (const std::exception& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

}  // namespace encore::record
