#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the files of deploy/ against the programs of a build, which they start.

    deploy_test.py TREE build/openmp/bin/exp

CTest runs it as deploy_files_fit_the_programs. Each file is parsed; options that containers give are options
of `exp serve`, probes and scrapes use existing routes and metrics, names that refer to each other agree, the
packages of the images are those that the programs load, and their build contexts have the sources alone. The image for
Apptainer has the parts of the other one, and its runscript is tried. With the
Python package kubernetes-validate the objects are also compared with the schemas of Kubernetes. Exits with 77
(skipped) without PyYAML.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

INSTRUCTIONS = {"FROM", "ARG", "ENV", "COPY", "RUN", "USER", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def instructions(text):
    """(instruction, rest) of a Containerfile, continued lines joined."""
    found, line = [], ""
    for each in text.splitlines():
        if not line and (not each.strip() or each.startswith("#")):
            continue
        line += each
        if line.endswith("\\"):
            line = line[:-1] + " "
            continue
        word, _, rest = line.strip().partition(" ")
        expect(word in INSTRUCTIONS, f"Containerfile: no instruction {word}")
        found.append((word, rest.strip()))
        line = ""
    expect(not line, "Containerfile ends within an instruction")
    return found


def stages_of(found):
    stages = []
    for word, rest in found:
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, rest))
    return stages


def options_of_serve(exp):
    text = subprocess.run([exp, "serve", "-h"], text=True, stdout=subprocess.PIPE, check=True).stdout
    return set(re.findall(r"--[a-z0-9-]+", text))


def check_call(words, known, where):
    """Checks the words behind `exp serve`: only existing options, and those that other machines need."""
    given = [word for word in words if word.startswith("--")]
    for word in given:
        expect(word in known, f"{where}: exp serve has no option {word}")
    expect({"--host", "--token-file", "--port"} <= set(given), f"{where}: a container must listen for other machines, with a token")
    return {option: words[words.index(option) + 1] for option in given}


def libraries_of(program):
    text = subprocess.run(["ldd", program], text=True, stdout=subprocess.PIPE).stdout
    return dict(re.findall(r"(\S+) => (/\S+)", text))


def packages_loaded(exp):
    """The Debian packages of what the programs and plugins load, the C and C++ libraries of every image left out, and MPI, which the
    image is built without."""
    build = os.path.dirname(os.path.dirname(exp))
    plugins = os.path.join(build, "lib", "encore", "plugins")
    programs = [os.path.join(build, "bin", name) for name in os.listdir(os.path.join(build, "bin"))
                if name == "exp" or name.startswith(("exp-", "encore-worker"))]
    programs += [os.path.join(plugins, name) for name in os.listdir(plugins) if name.endswith(".so")]
    files = set()
    for program in programs:
        loaded = libraries_of(program)
        for name in [name for name in loaded if name.startswith("libmpi.so")]:
            of_mpi = {name} | libraries_of(loaded[name]).keys()
            loaded = {other: path for other, path in loaded.items() if other not in of_mpi}
        files |= {os.path.realpath(path) for path in loaded.values()}
    names = set()
    for file in files:
        done = subprocess.run(["dpkg", "-S", file], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            names.add(done.stdout.split(":")[0])
    return names - {"libc6", "libgcc-s1", "libstdc++6"}


def check_container(tree, exp, known):
    stages = stages_of(instructions(open(os.path.join(tree, "deploy", "Containerfile"), encoding="utf-8").read()))
    names = [re.search(r" AS (\w+)$", stage[0][1]) for stage in stages]
    names = [name.group(1) for name in names if name]
    final = dict(stages[-1])
    for stage in stages:
        for word, rest in stage:
            if word == "COPY" and rest.startswith("--from="):
                expect(rest.split("=")[1].split()[0] in names, f"Containerfile: no stage for COPY {rest}")
    expect(not final["USER"].startswith(("0", "root")), "Containerfile: the server must not run as root")
    prefix = re.search(r"cmake --install \S+ --prefix (\S+)", dict(stages[0])["RUN"]).group(1)
    expect(json.loads(final["ENTRYPOINT"]) == [prefix + "/bin/exp", "serve"], "Containerfile: the entry point must be the installed program")
    expect(any(word == "COPY" and rest.split()[-1] == prefix for word, rest in stages[-1]), "Containerfile: the installation must be copied")
    call = check_call(json.loads(final["CMD"]), known, "Containerfile")
    expect(call["--port"] == final["EXPOSE"], "Containerfile: the ports differ")
    installed = set(re.search(r"--no-install-recommends\s+(.*?)\s*&&", final["RUN"]).group(1).split())
    if shutil.which("dpkg") and shutil.which("ldd"):
        missing = packages_loaded(exp) - installed
        expect(not missing, f"Containerfile: the programs load libraries of {sorted(missing)}")
        print(f"image: {len(installed)} packages, none missing" if not missing else "image: packages are missing")
    return final


def check_ignore(tree):
    """The build gets only the named sources, and no other files such as builds, runs or a token. docker reads no
    .containerignore, and podman and buildah would prefer one."""
    expect(not os.path.exists(os.path.join(tree, ".containerignore")), "remove .containerignore: only some builders read it")
    lines = [line.strip() for line in open(os.path.join(tree, ".dockerignore"), encoding="utf-8") if line.strip() and line[0] != "#"]
    expect(lines[0] == "*", ".dockerignore: everything must be excluded except the named files")
    taken = {line[1:] for line in lines if line.startswith("!")}
    for name in taken:
        expect(os.path.exists(os.path.join(tree, name)), f".dockerignore: {name} is missing")
    missing = {"exp", "CMakeLists.txt", "CMakePresets.json", "cmake", "framework", "plugins", "reports"} - taken
    expect(not missing, f".dockerignore: the build needs {sorted(missing)}")


def sections_of(text):
    """The stages of an Apptainer definition, each a dictionary from section ("files from build") to its lines; the head is ""."""
    stages = []
    for line in text.splitlines():
        if line.startswith("Bootstrap:"):
            stages.append({"": []})
            section = ""
        if line.startswith("%"):
            section = line[1:].strip()
            expect(section not in stages[-1], f"encore.def: two sections %{section} in a stage")
            stages[-1][section] = []
        elif line.strip() and not line.startswith("#"):
            stages[-1][section].append(line.strip())
    return stages


def check_apptainer(tree, container):
    """The definition for Apptainer takes the sources of .dockerignore and the base and packages of the Containerfile, and
    its runscript passes all arguments on."""
    build, final = sections_of(open(os.path.join(tree, "deploy", "encore.def"), encoding="utf-8").read())
    expect("Stage: build" in build[""] and build[""][:2] == final[""][:2] == ["Bootstrap: docker", f"From: {container['FROM']}"],
           "encore.def: both stages begin with the base of the Containerfile")
    ignored = [line.strip() for line in open(os.path.join(tree, ".dockerignore"), encoding="utf-8")]
    copied = dict(line.split() for line in build["files"])
    expect(copied.keys() == {line[1:] for line in ignored if line.startswith("!")}, "encore.def: %files are not the sources of .dockerignore")
    expect(all(target == f"/src/encore/{name}" for name, target in copied.items()), "encore.def: a source is copied to another name")
    arguments = {line.split("=")[0] for line in build["arguments"]}
    expect(arguments == set(re.findall(r"{{ (\w+) }}", " ".join(build["post"]))), "encore.def: %arguments and their uses differ")
    expect(container["RUN"].split() == " && ".join(final["post"]).replace("\\ && ", " ").split(), "encore.def: the packages are not those of the Containerfile")
    prefix = re.search(r"cmake --install \S+ --prefix (\S+)", " ".join(build["post"])).group(1)
    expect(final["files from build"] == [f"{prefix} {prefix}"], "encore.def: the installation must be copied")
    with tempfile.TemporaryDirectory(prefix="encore-apptainer-") as work:
        for section in ("post", "environment", "runscript", "test"):
            script = os.path.join(work, section)
            with open(script, "w", encoding="utf-8") as file:
                file.write("\n".join(final[section]).replace(f"{prefix}/bin/exp", f"{work}/exp"))
            expect(subprocess.run(["sh", "-n", script]).returncode == 0, f"encore.def: sh cannot read %{section}")
        with open(os.path.join(work, "exp"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nprintf "<%s>" "$@"\n')
        os.chmod(os.path.join(work, "exp"), 0o755)
        for given, passed in {("ls", "a b"): "<ls><a b>", (): "<>"}.items():
            done = subprocess.run(["sh", os.path.join(work, "runscript"), *given], text=True, stdout=subprocess.PIPE)
            expect(done.stdout == passed, f"encore.def: the runscript makes {done.stdout} of {given}")
    print(f"apptainer: {len(copied)} sources, the packages of the other image")


def of_kind(objects, kind):
    found = [each for each in objects if each["kind"] == kind]
    expect(len(found) == 1, f"kubernetes.yaml has {len(found)} objects of kind {kind}")
    return found[0]


def check_kubernetes(yaml, tree, known, container, routes, metrics):
    objects = list(yaml.safe_load_all(open(os.path.join(tree, "deploy", "kubernetes.yaml"), encoding="utf-8")))
    deployment, service = of_kind(objects, "Deployment"), of_kind(objects, "Service")
    scaler, budget = of_kind(objects, "HorizontalPodAutoscaler"), of_kind(objects, "PodDisruptionBudget")
    template = deployment["spec"]["template"]
    pod, labels = template["spec"], template["metadata"]["labels"]
    server = pod["containers"][0]
    for name, selector in {"Deployment": deployment["spec"]["selector"]["matchLabels"], "Service": service["spec"]["selector"],
                           "PodDisruptionBudget": budget["spec"]["selector"]["matchLabels"]}.items():
        expect(selector.items() <= labels.items(), f"{name} selects no pod of the deployment")
    ports = {port["name"]: port["containerPort"] for port in server["ports"]}
    call = check_call(server["args"], known, "kubernetes.yaml")
    expect(ports["http"] == int(call["--port"]) == int(container["EXPOSE"]), "kubernetes.yaml: the ports differ")
    expect(service["spec"]["ports"][0]["targetPort"] in ports, "Service: no container has the port")
    for probe, path in {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}.items():
        asked = server[probe]["httpGet"]
        expect(asked["path"] == path and path in routes and asked["port"] in ports, f"{probe}: unknown route")
    before = float(server["lifecycle"]["preStop"]["exec"]["command"][1])
    expect(pod["terminationGracePeriodSeconds"] > before + float(call.get("--drain", 30)), "the pod is killed before its last answers")
    expect(str(pod["securityContext"]["runAsUser"]) == container["USER"].split(":")[0], "kubernetes.yaml: not the user of the image")
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in server["volumeMounts"]}
    expect(set(mounts) == volumes, "kubernetes.yaml: mounts and volumes differ")
    expect(call["--token-file"].startswith(mounts["token"] + "/"), "kubernetes.yaml: the token is elsewhere")
    expect(re.search(r"ENCORE_DB=(\S+)/encore.db", container["ENV"]).group(1) == mounts["models"], "kubernetes.yaml: the models are elsewhere")
    target = scaler["spec"]["scaleTargetRef"]
    expect(target["name"] == deployment["metadata"]["name"] and target["kind"] == "Deployment", "the autoscaler scales nothing")
    for metric in scaler["spec"]["metrics"]:
        expect(metric["pods"]["metric"]["name"] in metrics, f"no metric {metric['pods']['metric']['name']}")
    monitor, rules = yaml.safe_load_all(open(os.path.join(tree, "deploy", "prometheus.yaml"), encoding="utf-8"))
    scrape = monitor["spec"]["podMetricsEndpoints"][0]
    expect(scrape["path"] in routes and scrape["port"] in ports, "PodMonitor: unknown route")
    expect(monitor["spec"]["selector"]["matchLabels"].items() <= labels.items(), "PodMonitor selects no pod")
    secret = next(volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume)
    expect(scrape["authorization"]["credentials"] == {"name": secret, "key": os.path.basename(call["--token-file"])}, "PodMonitor: not the secret of the token")
    for rule in yaml.safe_load(rules["data"]["config.yaml"])["rules"]:
        expect(rule["seriesQuery"].split("{")[0] in metrics, f"no metric in {rule['seriesQuery']}")
    return objects + [rules]


def options_of(exp, verb):
    text = subprocess.run([exp, *verb, "-h"], text=True, stdout=subprocess.PIPE, check=True).stdout
    return set(re.findall(r"(?<![\w-])--?[a-z0-9][a-z0-9-]*", text))


def check_systemd(tree, exp):
    """Each command of a unit has only existing options, each timer has a service of its name, and systemd reads
    the units, where it is installed."""
    folder = os.path.join(tree, "deploy", "systemd")
    units = sorted(os.listdir(folder))
    for unit in units:
        text = open(os.path.join(folder, unit), encoding="utf-8").read()
        if unit.endswith(".timer"):
            expect(unit.replace(".timer", ".service") in units, f"{unit}: no service of this name")
        calls = re.findall(r"^Exec\w*=(?:\S*/bin/exp|/bin/sh -c 'exec exp) (.*?)'?$", text, flags=re.MULTILINE)
        expect(calls or unit.endswith(".timer"), f"{unit}: no command of exp was found")
        for line in calls:
            words = line.split()
            verb = words[:2] if words[0] in ("review", "db", "plugin") else words[:1]
            known = options_of(exp, verb)
            for option in [word for word in words if word.startswith("-")]:
                expect(option in known, f"{unit}: exp {' '.join(verb)} has no option {option}")
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", *[os.path.join(folder, unit) for unit in units]],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in done.stdout.splitlines():
            # The programs and the user are those of the installation.
            if any(unit in line for unit in units) and not re.search(r"not executable|No such file|user", line):
                problems.append(f"systemd: {line}")
    print(f"systemd: {len(units)} units")


def check_schemas(objects):
    try:
        import kubernetes_validate
    except ImportError as error:
        print(f"the schemas of Kubernetes are left out: {error}")
        return
    for each in objects:
        try:
            kubernetes_validate.validate(each, "1.27", strict=True)
        except kubernetes_validate.ValidationError as error:
            problems.append(f"{each['kind']}: {error.message}")
    print(f"kubernetes: {len(objects)} objects compared with the schemas of 1.27")


def main():
    try:
        import yaml
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    tree, exp = sys.argv[1], os.path.abspath(sys.argv[2])
    routes = set(re.findall(r"^## `GET (\S+)`", open(os.path.join(tree, "docs", "reference", "serving_api.md"), encoding="utf-8").read(), re.M))
    metrics = set(re.findall(r'"(encore_\w+)"', open(os.path.join(tree, "framework", "serve", "metrics.cpp"), encoding="utf-8").read()))
    known = options_of_serve(exp)
    expect(len(routes) > 2 and len(metrics) > 5 and len(known) > 10, "the test did not find routes, metrics or options")
    container = check_container(tree, exp, known)
    check_ignore(tree)
    check_apptainer(tree, container)
    check_systemd(tree, exp)
    check_schemas(check_kubernetes(yaml, tree, known, container, routes, metrics))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
