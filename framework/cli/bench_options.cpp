// The options of bench, bench ls and bench show. Their work is done by exp-bench (components.hpp).
#include "cli/components.hpp"
#include "cli/run_ranks.hpp"

namespace encore {

namespace po = boost::program_options;

namespace {

void add_bench_options(CommandLine& line) {
  const auto list = [] { return po::value<std::string>()->value_name("LIST"); };
  line.options()("set,S", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                 "override a setting of the file (may be repeated)");
  line.options()("plugin-path", po::value<std::vector<std::string>>()->value_name("DIR"),
                 "search plugins here too (may be repeated)");
  line.options()("backend", list(), "openmp, cuda, hip: one or several (default: that of this exp)");
  line.options()("threads,t", list(), "numbers of threads, as 1,2 (default: all this process may use)");
  line.options()(
      "ranks", list(),
      "numbers of processes that train together over MPI, as 1,2,4: how a step and the same with as "
      "many times the batch scale, and what the exchange takes");
  add_mpirun_option(line);
  line.options()("precision", list(),
                 "float32, bfloat16, float16: one or several (default: that of the file)");
  line.options()("batch-size", list(), "sequences in a step, as 8,32 (default: that of the file)");
  line.options()("length", list(),
                 "tokens of every sequence, as 64,256 (default: the lengths of the training set)");
  line.options()("rounds", po::value<std::int64_t>()->value_name("N")->default_value(10),
                 "samples of everything, behind one round of warm-up");
  line.options()("batches", po::value<std::int64_t>()->value_name("N")->default_value(4),
                 "steps in a sample; the same batches in every round");
  line.options()("order-cost", po::bool_switch(),
                 "also time the reductions without their fixed order, and say its price");
}

void add_output_options(CommandLine& line) {
  line.options()("against", po::value<std::string>()->value_name("NAME|FILE"),
                 "compare with an earlier measurement: a name of exp bench ls, or a .json file");
  line.options()("threshold", po::value<std::string>()->value_name("SHARE")->default_value("5%"),
                 "a step that is slower by more than this, interval and all, is a regression");
  line.options()("svg", po::value<std::string>()->value_name("FILE"),
                 "write the roofline of the (first) step");
  line.options()("json", po::bool_switch(),
                 "everything as JSON, raw samples too; --against reads such a file");
}

}  // namespace

CommandLine make_bench_line() {
  CommandLine line(
      "bench",
      {"bench [FILE] [options] | bench ls | bench show NAME",
       "Measures this machine: matrix products, memory, launching of kernels. With an experiment file also a "
       "training step: speed, the time of its matrix products alone, and every kernel with its distance from "
       "the machine's limit. Several values of an option are crossed and measured in turn. The samples are "
       "stored. Exit code 1: --against found a regression.",
       {{"exp bench", "the machine alone"},
        {"exp bench experiments/quickstart.toml --threads 1,2 --batch-size 8,16", "four steps, in turn"},
        {"exp bench experiments/quickstart.toml --against quickstart --threshold 5%",
         "has anything become slower?"}}});
  add_bench_options(line);
  add_output_options(line);
  line.options()("name", po::value<std::string>()->value_name("NAME"),
                 "under which it is stored (default: that of the experiment, or machine)");
  line.options()("quiet,q", po::bool_switch(), "no progress");
  line.positional("file");
  return line;
}

CommandLine make_bench_ls_line() {
  CommandLine line("bench ls", {"bench ls [options]",
                                "Lists the measurements in the database, newest first.",
                                {{"exp bench ls", "what --against and bench show can name"}}});
  line.options()("json", po::bool_switch(), "as JSON");
  return line;
}

CommandLine make_bench_show_line() {
  CommandLine line("bench show",
                   {"bench show NAME [options]",
                    "Shows an earlier measurement as it was shown then, or compares two earlier ones.",
                    {{"exp bench show quickstart", "the tables again"},
                     {"exp bench show quickstart-2 --against quickstart", "what changed between the two"}}});
  add_output_options(line);
  line.positional("name");
  return line;
}

int bench_verb(const Arguments& arguments) {
  const std::string action = arguments.empty() ? "" : arguments.front();
  if (action != "ls" && action != "show") return run_in_component(make_bench_line(), arguments);
  return run_in_component(action == "ls" ? make_bench_ls_line() : make_bench_show_line(),
                          {arguments.begin() + 1, arguments.end()});
}

}  // namespace encore
