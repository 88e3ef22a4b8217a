// SPDX-License-Identifier: BSD-3-Clause
// BenchRequest: reads and writes bench.json, and checks the members that a file of another version may lack.
// runner/bench_run.cpp writes it, worker/bench_verb.cpp reads it. Read bench_request.hpp first.
#include "record/bench_request.hpp"

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "world/atomic_file.hpp"

namespace encore {
namespace {

constexpr const char* request_name = "bench.json";
constexpr int request_format = 1;

}  // namespace

nlohmann::json BenchRequest::to_json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const BenchCaseRequest& one : cases)
    list.push_back(
        {{"name", one.name}, {"length", one.length}, {"specification", one.specification.to_json()}});
  return {{"format", request_format},
          {"rounds", rounds},
          {"batches", batches},
          {"order_cost", order_cost},
          {"machine_precisions", machine_precisions},
          {"machine_sizes", machine_sizes},
          {"cases", list}};
}

BenchRequest BenchRequest::from_json(const nlohmann::json& json) {
  if (json.at("format").get<int>() != request_format)
    throw Error("format " + json.at("format").dump() +
                " is not known; build exp and encore-worker from the same source");
  BenchRequest request;
  json.at("rounds").get_to(request.rounds);
  json.at("batches").get_to(request.batches);
  json.at("order_cost").get_to(request.order_cost);
  json.at("machine_precisions").get_to(request.machine_precisions);
  json.at("machine_sizes").get_to(request.machine_sizes);
  for (const nlohmann::json& one : json.at("cases"))
    request.cases.push_back({one.at("name").get<std::string>(), one.at("length").get<std::int64_t>(),
                             Specification::from_json(one.at("specification"))});
  return request;
}

void BenchRequest::save(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  save_file(folder / request_name, to_json().dump(2) + "\n");
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

}  // namespace encore
