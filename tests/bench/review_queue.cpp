// SPDX-License-Identifier: BSD-3-Clause
// Measures a review queue (framework/review): how long a claim and a decision take in a queue of a million
// items, how long eight processes wait for each other, and whether kills at points of a transaction lose or
// double an item. It prints figures and fails only for a lost, doubled or refused item. Its results are in
// docs/guides/review.md.
//   review_queue million [--items N] [--calls N]     review_queue kills [N]     review_queue clients [N]
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/killed_reviewer.hpp"

namespace {

using namespace encore;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Returns the processor time of this process in milliseconds.
double processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[std::min(times.size() - 1,
                          static_cast<std::size_t>(share * static_cast<double>(times.size())))];
  };
  std::printf("%-24s %6zu calls   p50 %7.3f ms   p95 %7.3f ms   p99 %7.3f ms   max %7.3f ms\n", what,
              times.size(), at(0.5), at(0.95), at(0.99), times.back());
}

/// The times of one kind of call: on the clock, which other programs prolong, and of the processor.
struct Times {
  std::vector<double> clock, processor;

  template <class Call>
  auto measure(const Call& call) {
    const auto begin = Clock::now();
    const double used = processor_time();
    auto result = call();
    clock.push_back(milliseconds_since(begin));
    processor.push_back(processor_time() - used);
    return result;
  }
  void print(const std::string& what) const {
    ::print(("  " + what).c_str(), clock);
    ::print(("  " + what + ", CPU").c_str(), processor);
  }
};

/// Adds items with confidences in a scattered order, as a server does, but many in one commit.
void fill(const std::filesystem::path& path, std::size_t items, int opinions = 1) {
  review::Queue queue = review::Queue::make(
      path, {.application = "desk", .lease_seconds = 1e6, .text_days = 30.0, .opinions = opinions},
      {"billing"});
  constexpr std::size_t at_once = 10000;
  for (std::size_t first = 0; first < items; first += at_once) {
    std::vector<review::NewItem> batch;
    for (std::size_t i = first; i < std::min(items, first + at_once); ++i)
      batch.push_back(
          {.id = "0123456789ab-" + std::to_string(i),
           .run = "0123456789",
           .digest = std::string(64, 'a'),
           .proposed = "label " + std::to_string(i % 150),
           .confidence = static_cast<double>(i * 7919 % 100003) / 100003.0,
           .text = "where is the parcel of order " + std::to_string(i) + ", which you sent last week?"});
    queue.add(batch, {{review::Band::review, static_cast<std::int64_t>(batch.size())}}, "bench");
  }
}

/// Measures calls of `calls` rounds; each round claims, decides, and sometimes undoes.
void million(const std::filesystem::path& folder, std::size_t items, std::size_t calls) {
  const std::filesystem::path path = folder / "million.queue";
  const auto begin = Clock::now();
  fill(path, items);
  std::printf("%zu items added in %.1f s, file %.0f MB\n", items, milliseconds_since(begin) / 1000.0,
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  review::Queue queue(path);
  for (const review::Order order : {review::Order::uncertainty, review::Order::age}) {
    Times claims, decisions, undos, additions;
    for (std::size_t i = 0; i < calls; ++i) {
      const auto item = claims.measure([&] { return queue.claim("anna", order); });
      decisions.measure([&] { return queue.decide(item->id, item->proposed, "anna"); });
      if (i % 10 == 0) undos.measure([&] { return queue.undo(item->id); });
      additions.measure([&] {
        const std::string id = std::string(review::name_of(order)) + std::to_string(i);
        queue.add(
            std::vector<review::NewItem>{
                {.id = id, .proposed = "billing", .confidence = 0.5, .text = "one more text"}},
            {{review::Band::review, 1}}, "bench");
        return true;
      });
    }
    std::printf("order %s\n", review::name_of(order));
    claims.print("claim");
    decisions.print("decide");
    undos.print("undo");
    additions.print("add one item");
  }
  const auto start = Clock::now();
  queue.numbers();
  std::printf("all figures of the report: %.0f ms\n", milliseconds_since(start));
}

/// Kills a reviewer at each point in turn. Returns whether nothing was lost or doubled.
bool kills(const std::filesystem::path& folder, int count) {
  const std::filesystem::path path = folder / "kills.queue";
  constexpr std::size_t items = 2000;
  fill(path, items);
  const char* points[] = {"begun", "written", "committed"};
  int killed = 0;
  for (int i = 0; killed < count; ++i)
    killed += testing::kill_at(path, points[i % 3], 1 + i % 11,
                               [](review::Queue& queue) { testing::review_all(queue, "anna"); })
                  ? 1
                  : 0;
  review::Queue queue(path);
  const auto decided = queue.counts().done;
  testing::review_all(queue, "anna");
  const std::string fault = testing::fault_of_reviewed(queue, items);
  std::printf("%d kills, %lld of %zu items decided in between; %s\n", killed, static_cast<long long>(decided),
              items, fault.empty() ? "none lost or doubled" : fault.c_str());
  return fault.empty();
}

/// Lets several processes review at once. Returns whether each of them did its work.
bool clients(const std::filesystem::path& folder, int count) {
  const std::filesystem::path path = folder / "clients.queue";
  constexpr std::size_t items = 4000;
  fill(path, items);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        review::Queue queue(path);
        const std::string name = "reviewer " + std::to_string(i);
        std::ofstream times(folder / ("times" + std::to_string(i)));
        for (;;) {
          const auto start = Clock::now();
          const auto item = queue.claim(name);
          if (!item) break;
          queue.decide(item->id, item->proposed, name);
          times << milliseconds_since(start) << '\n';
        }
        times.flush();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  bool all = true;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    all = all && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    std::ifstream in(folder / ("times" + std::to_string(i)));
    std::size_t own = 0;
    for (double time; in >> time; ++own) times.push_back(time);
    std::printf("reviewer %d: %zu items\n", i, own);
  }
  print("claim and decide", times);
  review::Queue queue(path);
  const std::string fault = testing::fault_of_reviewed(queue, items);
  std::printf("%d processes: %s, %s\n", count, all ? "none was locked out" : "one FAILED",
              fault.empty() ? "none lost or doubled" : fault.c_str());
  return all && fault.empty();
}

long number_of(const char* word) {
  const long number = std::atol(word);
  if (number < 1) {
    std::fprintf(stderr, "invalid number \"%s\": expected at least 1\n", word);
    std::exit(2);
  }
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = (std::filesystem::temp_directory_path() / "encore-review-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const std::string mode = argc > 1 ? argv[1] : "";
  bool right = false;
  if (mode == "million") {
    std::size_t items = 1000000, calls = 1000;
    for (int i = 2; i + 1 < argc; i += 2)
      (std::strcmp(argv[i], "--items") == 0 ? items : calls) =
          static_cast<std::size_t>(number_of(argv[i + 1]));
    million(name, items, calls);
    right = true;
  } else if (mode == "kills") {
    right = kills(name, argc > 2 ? static_cast<int>(number_of(argv[2])) : 100);
  } else if (mode == "clients") {
    right = clients(name, argc > 2 ? static_cast<int>(number_of(argv[2])) : 8);
  } else {
    std::fprintf(stderr, "usage: review_queue million [--items N] [--calls N] | kills [N] | clients [N]\n");
  }
  std::filesystem::remove_all(name);
  return right ? 0 : 1;
}
