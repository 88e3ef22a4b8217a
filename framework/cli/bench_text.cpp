// SPDX-License-Identifier: BSD-3-Clause
// Prints a measurement of `exp bench` and its comparison with an earlier one as tables, from
// analysis/bench_summary.hpp. bench_verb.cpp calls print_bench() and print_comparison(). The tables are for
// people and may change; programs read the JSON of bench_verb.cpp. Read next: bench_text.hpp.
#include "cli/bench_text.hpp"

#include <cstdio>
#include <ostream>

#include "analysis/rank_scaling.hpp"
#include "cli/table.hpp"

namespace encore::cli {

namespace {

using nlohmann::json;

/// Returns the interval as "1.23 .. 1.31".
std::string range(const analysis::Measured& m, double factor, int digits) {
  return fixed(m.interval.low * factor, digits) + " .. " + fixed(m.interval.high * factor, digits);
}

std::string text_at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : std::string();
}

double number_at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : 0.0;
}

void print_machine(std::ostream& out, const Terminal& terminal, const analysis::MachineSummary& machine) {
  const store::BenchCase& one = *machine.measured;
  out << styled(terminal, Style::bold, one.name) << "  " << text_at(one.environment, "device") << " on "
      << text_at(one.host, "name") << ", " << text_at(one.environment, "gemm") << ", "
      << text_at(one.environment, "instruction_set") << '\n';
  Table products(
      {{"MATRIX PRODUCT"}, {"GFLOP/S", Align::right}, {"95 %", Align::right}, {"% OF PEAK", Align::right}});
  for (const analysis::MachineSummary::Peak& peak : machine.cores)
    products.add({"peak: " + peak.instructions + " " + peak.precision, fixed(peak.flops.median / 1e9, 0),
                  range(peak.flops, 1e-9, 0), ""});
  for (const analysis::MachineSummary::Product& product : machine.products) {
    const std::string size = fixed(product.size, 0);
    const analysis::MachineSummary::Peak* peak = machine.core_peak(product.precision);
    products.add({size + " x " + size + " x " + size + " " + product.precision,
                  fixed(product.flops.median / 1e9, 0), range(product.flops, 1e-9, 0),
                  peak != nullptr ? fixed(100.0 * product.flops.median / peak->flops.median, 0) : "unknown"});
  }
  products.print(out, terminal, 2);
  out << "  memory    copy " << fixed(machine.copy.median / 1e9, 1) << " GB/s ("
      << range(machine.copy, 1e-9, 1) << "), triad " << fixed(machine.triad.median / 1e9, 1) << " GB/s ("
      << range(machine.triad, 1e-9, 1) << ")\n";
  for (std::size_t k = 0; k < machine.reads.size(); ++k)
    out << (k == 0 ? "  reads     " : ", ") << machine.reads[k].level << " "
        << fixed(machine.reads[k].bytes.median / 1e9, 1) << " GB/s";
  out << (machine.reads.empty() ? "" : "\n") << "  launch    an empty kernel takes "
      << fixed(machine.launch.median * 1e6, 1) << " us, " << fixed(machine.launch_and_wait.median * 1e6, 1)
      << " us with a wait for its end\n";
}

void print_steps(std::ostream& out, const Terminal& terminal, const analysis::BenchSummary& summary) {
  Table table({{"STEP"},
               {"TOKENS/S", Align::right},
               {"95 %", Align::right, true},
               {"MS", Align::right},
               {"PRODUCTS MS", Align::right, true},
               {"STEP/PRODUCTS", Align::right},
               {"95 %", Align::right, true},
               {"% OF PEAK", Align::right},
               {"J PER 1M TOKENS", Align::right}});
  bool measured = false;
  for (const analysis::StepSummary& step : summary.steps) {
    measured = measured || step.joules_per_token;
    table.add({step.measured->name, fixed(step.tokens_per_second.median, 0),
               range(step.tokens_per_second, 1.0, 0), fixed(step.step.median * 1e3, 2),
               fixed(step.matmul.median * 1e3, 2), fixed(step.step_over_matmul.median, 3),
               range(step.step_over_matmul, 1.0, 3),
               step.of_peak ? fixed(100.0 * *step.of_peak, 1) : "unknown",
               step.joules_per_token ? fixed(1e6 * step.joules_per_token->median, 0) : "unknown"});
  }
  table.print(out, terminal);
  if (!measured) out << "energy: unknown, because no RAPL counter in /sys/class/powercap is readable\n";
  for (const analysis::ThreadGain& gain : analysis::thread_gains(summary))
    out << gain.name << ": " << fixed(gain.step, 2) << " times as fast as with " << fixed(gain.from, 0)
        << (gain.from == 1.0 ? " thread" : " threads") << "; its products alone are " << fixed(gain.matmul, 2)
        << " times as fast; ratio " << fixed(gain.step / gain.matmul, 2) << "\n";
}

/// Prints whether cases that differ in backend and threads alone computed the same gradients.
void print_bits(std::ostream& out, const Terminal& terminal, const analysis::BenchSummary& summary) {
  const std::vector<analysis::BitsVerdict> verdicts = analysis::bits_verdicts(summary);
  if (verdicts.empty()) return;
  Table table({{"GRADIENTS OF THE FIRST STEP"}, {"AGAINST"}, {"BITS"}});
  for (const analysis::BitsVerdict& one : verdicts)
    table.add({one.name, one.against, one.broken ? Cell(one.verdict, Style::red) : Cell(one.verdict)});
  out << '\n';
  table.print(out, terminal);
}

void print_ranks(std::ostream& out, const Terminal& terminal, const analysis::BenchSummary& summary) {
  const std::vector<analysis::RankScaling> all = analysis::rank_scaling(summary);
  if (all.empty()) return;
  Table table({{"SCALING"},
               {"STEP"},
               {"AGAINST", Align::left, true},
               {"TOKENS/S", Align::right},
               {"TIMES", Align::right},
               {"EFFICIENCY %", Align::right},
               {"EXCHANGE %", Align::right}});
  for (const analysis::RankScaling& one : all)
    table.add({one.weak ? "weak" : "strong", one.step->measured->name, one.base->measured->name,
               fixed(one.step->tokens_per_second.median, 0), fixed(one.speedup, 2),
               fixed(100.0 * one.efficiency, 1), fixed(100.0 * one.exchange.median, 1)});
  out << '\n';
  table.print(out, terminal);
  out << "strong: the same batch, divided; weak: the batch times the ranks. Speed: tokens per second "
         "relative to one process, also per thread\n";
}

void print_kernels(std::ostream& out, const Terminal& terminal, const analysis::StepSummary& step) {
  Table table({{"KERNEL"},
               {"CALLS", Align::right, true},
               {"MS", Align::right},
               {"95 %", Align::right, true},
               {"SHARE %", Align::right},
               {"GFLOP/S", Align::right},
               {"GB/S", Align::right, true},
               {"% OF LIMIT", Align::right},
               {"% OF MACHINE", Align::right}});
  for (const analysis::KernelSummary& kernel : step.kernels) {
    const double seconds = kernel.seconds.median;
    const std::string label = (kernel.within_product ? "  in products: " : "") + kernel.label;
    const std::string unknown = kernel.within_product ? "" : "unknown";
    table.add({label, fixed(kernel.calls, 0), fixed(seconds * 1e3, 3), range(kernel.seconds, 1e3, 3),
               percent(kernel.share), kernel.flops ? fixed(*kernel.flops / seconds / 1e9, 1) : unknown,
               kernel.bytes ? fixed(*kernel.bytes / seconds / 1e9, 1) : unknown,
               kernel.limit ? fixed(100.0 * *kernel.limit, 0) : unknown,
               kernel.machine_limit ? fixed(100.0 * *kernel.machine_limit, 0) : unknown});
  }
  table.add({"outside of kernels", "", "", "", percent(step.outside_kernels), "", "", "", ""});
  table.print(out, terminal, 2);
}

void print_prices(std::ostream& out, const Terminal& terminal, const analysis::StepSummary& step) {
  if (!step.price_of_order) return;
  Table table({{"FIXED ORDER OF"},
               {"MS", Align::right},
               {"FREE MS", Align::right},
               {"PRICE, % OF STEP", Align::right},
               {"95 %", Align::right}});
  const auto row = [&](const std::string& name, const std::string& ms, const std::string& free,
                       const analysis::Measured& price) {
    table.add({name, ms, free, fixed(100.0 * price.median, 2), range(price, 100.0, 2)});
  };
  for (const analysis::OrderPrice& price : step.prices)
    row(price.name, fixed(price.fixed.median * 1e3, 3), fixed(price.free.median * 1e3, 3), price.price);
  row("all of them", "", "", *step.price_of_order);
  out << '\n';
  table.print(out, terminal, 2);
}

/// Prints the coverage of the intervals.
void print_coverage(std::ostream& out, const analysis::Measured& any) {
  out << "\nmedians of " << any.count
      << " rounds; 95 %: between two order statistics, which covers the true median with at least that"
      << (any.coverage < 0.95 ? " from 6 rounds on; here " + percent(any.coverage) + " %" : "") << '\n';
}

void print_memory(std::ostream& out, const analysis::StepSummary& step) {
  const json& facts = step.measured->facts;
  const auto bytes = [&](const char* key) {
    return bytes_text(static_cast<std::uint64_t>(number_at(facts, key)));
  };
  out << "  memory    parameters " << bytes("parameter_bytes") << ", gradients " << bytes("gradient_bytes")
      << ", optimizer " << bytes("state_bytes") << ", activations " << bytes("arena_bytes")
      << "; allocated in the measured steps: " << bytes("allocated_bytes") << " in "
      << fixed(number_at(facts, "allocations"), 0) << " allocations\n"
      << "  batches   " << fixed(number_at(facts, "batches"), 0) << " of "
      << fixed(number_at(facts, "sequences"), 0) << " sequences, " << fixed(number_at(facts, "tokens"), 0)
      << " tokens on average, the longest sequence " << fixed(number_at(facts, "longest"), 0) << "; "
      << document::count_text(number_at(facts, "parameters")) << " parameters\n";
}

}  // namespace

void print_bench(std::ostream& out, const Terminal& terminal, const store::BenchResult& result,
                 const analysis::BenchSummary& summary) {
  for (const analysis::MachineSummary& machine : summary.machines) print_machine(out, terminal, machine);
  const json places = result.settings.value("places", json::object());
  for (const auto& [worker, text] : places.items())
    if (text.is_string()) out << "  threads   " << worker << ": " << text.get<std::string>() << '\n';
  const std::vector<std::string> notes = analysis::noise_notes(result, summary);
  for (const std::string& note : notes) out << styled(terminal, Style::yellow, " noise ") << note << '\n';
  if (notes.empty())
    out << "  noise     none noticed: steady calibration, no stolen time, no other processes\n";
  if (summary.steps.empty() && !summary.machines.empty()) print_coverage(out, summary.machines.front().copy);
  if (summary.steps.empty()) return;
  out << '\n';
  print_steps(out, terminal, summary);
  print_bits(out, terminal, summary);
  print_ranks(out, terminal, summary);
  for (const analysis::StepSummary& step : summary.steps) {
    print_heading(out, terminal, step.measured->name);
    print_kernels(out, terminal, step);
    print_prices(out, terminal, step);
    out << '\n';
    print_memory(out, step);
  }
  print_coverage(out, summary.steps.front().step);
}

void print_comparison(std::ostream& out, const Terminal& terminal,
                      const analysis::BenchComparison& comparison, const std::string& before,
                      double threshold) {
  out << "\nagainst " << before << ", threshold " << percent(threshold)
      << " %: seconds now over seconds then\n";
  Table table({{"WHAT"},
               {"RATIO", Align::right},
               {"95 %", Align::right},
               {"CALIBRATED 95 %", Align::right},
               {"VERDICT"}});
  const auto interval = [](const analysis::Ratio& ratio) {
    return fixed(ratio.interval.low, 3) + " .. " + fixed(ratio.interval.high, 3);
  };
  const auto add = [&](const analysis::BenchChange& change, const std::string& what) {
    if (change.change == analysis::Change::incomparable) return;
    const Cell verdict =
        change.change == analysis::Change::slower   ? Cell(analysis::name_of(change.change), Style::red)
        : change.change == analysis::Change::faster ? Cell(analysis::name_of(change.change), Style::green)
                                                    : Cell(analysis::name_of(change.change));
    table.add({what, fixed(change.seconds.ratio, 3), interval(change.seconds), interval(change.calibrated),
               verdict});
  };
  for (const analysis::BenchChange& step : comparison.steps) {
    add(step, "step: " + step.name);
    for (const analysis::BenchChange& kernel : comparison.kernels)
      if (kernel.name == step.name && kernel.change != analysis::Change::unchanged &&
          kernel.change != analysis::Change::unclear)
        add(kernel, "  " + kernel.quantity + " (" + percent(kernel.share) + " % of the step)");
  }
  table.print(out, terminal);
  for (const analysis::BenchChange& step : comparison.steps) {
    if (step.change != analysis::Change::incomparable) continue;
    out << step.name << ": not comparable";
    for (std::size_t k = 0; k < step.reasons.size(); ++k) out << (k == 0 ? ": " : "; ") << step.reasons[k];
    out << '\n';
  }
  for (const std::string& change : comparison.changed) out << "changed since: " << change << '\n';
  for (const std::string& name : comparison.missing) out << name << " was not measured now\n";
  for (const analysis::BenchChange& step : comparison.steps)
    if (step.change == analysis::Change::unclear) {
      out << "unclear: the intervals cross the threshold; use more --rounds\n";
      break;
    }
}

}  // namespace encore::cli
