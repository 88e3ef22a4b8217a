// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "site": mutated site files, the settings of a cluster for `exp run --launcher slurm --site
// FILE`, go to config::parse_site. Accepted numbers must be in their ranges. fuzz.cpp calls the target; read
// target.hpp first.
#include "config/site_file.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

class SiteTarget final : public Target {
 public:
  std::string name() const override { return "site"; }

  std::vector<std::string> corpus() override {
    return {
        "[slurm]\npartition = \"gpu\"\naccount = \"p1\"\ntime = \"1-12:30:00\"\nmemory = \"16G\"\n"
        "gpus = \"a100:1\"\ncpus = 8\nmodules = [\"gcc/12\", \"cuda\"]\nbefore = [\"ulimit -c 0\"]\n"
        "container = \"apptainer exec /images/encore.sif\"\noptions = [\"--qos=long\", \"-C big\"]\n"
        "mpi = \"srun --mpi=pmix -n {ranks} -c {cpus}\"\nmax_submits_per_minute = 5\nruns_per_job = 4\n"
        "max_array_size = 100\ncheckpoint_seconds = 60\nrequeue = false\nqueue_seconds = 30\n",
        "# nothing but\n[slurm]\ntime = '30'\n", ""};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {"[slurm]\n",
                                "[",
                                "]",
                                "{",
                                "}",
                                "{ranks}",
                                "{cpus}",
                                "{",
                                "\"",
                                "'''",
                                "\"\"\"",
                                "=",
                                "\n",
                                " = \"",
                                "time = ",
                                "0:0:0",
                                "1-",
                                "--array=1",
                                "-J x",
                                "--wrap",
                                "$(",
                                "`",
                                "\\u0000",
                                "mpi = \"srun ",
                                "memory = \"1",
                                "partition",
                                "\xff",
                                "true",
                                "[\"a\"]",
                                "-1",
                                "99999999999",
                                "1.5",
                                "#",
                                "runs_per_job",
                                "a.b = 1\n",
                                std::string(30'000, 'x'),
                                std::string(30'000, '1'),
                                std::string(20'000, '{')};
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    const config::SlurmSite site = config::parse_site(input, "site.toml");
    if (site.runs_per_job < 1 || site.max_submits_per_minute < 1 || site.cpus < 0)
      throw std::logic_error("a number outside of its range");
  }
};

}  // namespace

std::unique_ptr<Target> make_site_target() {
  return std::make_unique<SiteTarget>();
}

}  // namespace encore::fuzz
