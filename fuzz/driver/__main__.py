"""The command `./run fuzz`. `./run fuzz help` lists what it does; fuzz/README.md explains it."""

import argparse
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

import adopt
import controls
import corpora
import coverage
import rehearse
from campaign import Campaign, State
from crashes import KnownFailures
from layout import CORPUS, PRESETS, ROOT, Build, DriverError, build_preset, descriptors, run_tool, say, target_names

BUILT_FOR_CAMPAIGNS = ("kvwitness_fuzz", "kvwitness_fuzz_targets")
COMMANDS = ("adopt", "prune", "coverage", "rehearse", "regressions", "known", "control", "mutators")


def common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build", type=Path, help="a build folder that holds the programs; nothing is built then")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "campaign", help="the campaigns' folder (default build/campaign)")


def positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return int(text)


def hours(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 10_000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of hours above 0")
    return value


def campaign_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run fuzz", epilog=f"Other commands: {', '.join(COMMANDS)}; each takes --help.")
    parser.add_argument("target", nargs="?", help="one target (default: all of them in turn)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=hours, help="how long in all (default 0.1)")
    length.add_argument("--runs", type=positive, help="executions of each target, from a fixed seed, instead of hours")
    parser.add_argument("--jobs", type=positive, default=1, help="processes at a time (default 1)")
    parser.add_argument("--seed", type=positive, default=1, help="of --runs (default 1)")
    parser.add_argument("--sanitizer", choices=sorted(PRESETS), default="address",
                        help="address with undefined (default), thread (only targets that have threads), or none")
    common(parser)
    return parser.parse_args(arguments)


def built(options: argparse.Namespace, preset: str, *targets: str) -> Build:
    build = Build(options.build) if options.build else build_preset(preset, *targets)
    if not build.tool.exists():
        raise DriverError(f"{build.folder} holds no kvwitness_fuzz")
    return build


def with_seeds(options: argparse.Namespace, build: Build) -> Build:
    """Makes the seeds, but for a build folder that was given and has them: several runs may share it."""
    if options.build is None or not build.seeds_folder.is_dir():
        build.make_seeds()
    return build


def known_target(name: str, targets: Iterable[str]) -> str:
    if name not in targets:
        raise DriverError(f"there is no target '{name}'; they are {', '.join(sorted(targets))}")
    return name


def refuse_unknown_target(options: argparse.Namespace) -> None:
    """Before a build is made, which takes a while. A build that was given is asked later what it holds."""
    if options.target and not options.build:
        known_target(options.target, target_names())


def run_campaign(arguments: list[str]) -> int:
    options = campaign_arguments(arguments)
    threaded = [name for name, each in descriptors().items() if each.has_threads]
    if options.sanitizer == "thread" and options.target not in threaded:
        raise DriverError(f"--sanitizer thread is for {', '.join(threaded)}: no other target has threads")
    refuse_unknown_target(options)
    state = State(options.state.resolve())
    build = built(options, PRESETS[options.sanitizer], *BUILT_FOR_CAMPAIGNS)
    limits = build.target_limits()
    if options.target:
        limits = {options.target: limits[known_target(options.target, limits)]}
    with_seeds(options, build)
    campaign = Campaign(build, state, limits)
    if options.runs:
        return campaign.run_for_executions(options.runs, options.seed, options.jobs)
    status = campaign.run_for_hours(options.hours or 0.1, options.jobs)
    if not campaign.stopping.is_set():
        for target, limit in limits.items():
            say(corpora.prune(build, target, limit, state.corpus(target)))
    return status


def run_adopt(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz adopt", description="Makes a regression of an input that fails.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--target", help="where the file's folder and name do not say it")
    parser.add_argument("--name", help="a few words for the regression's name (default: what failed)")
    parser.add_argument("--regressions", type=Path, default=CORPUS / "regressions", help="where it is written (default corpus/regressions)")
    common(parser)
    options = parser.parse_args(arguments)
    refuse_unknown_target(options)
    if not options.file.is_file():
        raise DriverError(f"{options.file}: no such file")
    build = built(options, PRESETS["address"], "kvwitness_fuzz")
    limits = build.target_limits()
    target = known_target(options.target, limits) if options.target else adopt.target_of(options.file, limits)
    print(adopt.Adoption(build, target, options.regressions.resolve()).adopt(options.file, options.name))
    return 0


def run_prune(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz prune", description="Merges each corpus; no edge is lost.")
    common(parser)
    options = parser.parse_args(arguments)
    build = with_seeds(options, built(options, PRESETS["address"], *BUILT_FOR_CAMPAIGNS))
    state = State(options.state.resolve())
    for target, limit in build.target_limits().items():
        say(corpora.prune(build, target, limit, state.corpus(target)))
    return 0


def run_coverage(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz coverage", description="The lines of lib and kernels that fuzzing never reaches.")
    common(parser)
    options = parser.parse_args(arguments)
    print(coverage.report(built(options, "fuzz-coverage", "kvwitness_fuzz"), options.state.resolve() / "corpus"))
    return 0


def run_rehearse(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz rehearse", description="What a fuzzing service asks of the build, checked here.")
    parser.add_argument("only", nargs="?", choices=("address", "undefined", "coverage", "archive"))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "rehearsal")
    options = parser.parse_args(arguments)
    wrong = rehearse.rehearse(options.folder, options.only)
    for each in wrong:
        say(f"WRONG: {each}")
    print("the rehearsal failed" if wrong else "a fuzzing service would take these builds")
    return 1 if wrong else 0


def run_regressions(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz regressions", description="Replays every regression on every target, and the known failures.")
    parser.add_argument("paths", nargs="*", default=[str(CORPUS / "regressions")])
    parser.add_argument("--target")
    common(parser)
    options = parser.parse_args(arguments)
    refuse_unknown_target(options)
    build = built(options, PRESETS["address"], "kvwitness_fuzz")
    limits = build.target_limits()
    targets = [known_target(options.target, limits)] if options.target else sorted(limits)
    for target in targets:
        print(run_tool(build.tool, "replay", target, *options.paths).stdout.strip())
    return 0


def run_known(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz known", description="Checks that every known failure still fails as it is listed.")
    parser.add_argument("--list", type=Path, default=CORPUS / "known_failures.json")
    common(parser)
    options = parser.parse_args(arguments)
    known = KnownFailures(options.list)
    wrong = known.check(built(options, PRESETS["address"], "kvwitness_fuzz").tool)
    for each in wrong:
        say(f"WRONG: {each}")
    print(f"{len(known.failures)} known failures, {len(wrong)} listed wrongly")
    return 1 if wrong else 0


def run_control(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz control", description="A campaign that must find its planted fault, or refute the claim of a canary.")
    parser.add_argument("target")
    parser.add_argument("fault", nargs="?", help="one planted fault (default: all of the target's)")
    parser.add_argument("--runs", type=positive)
    common(parser)
    options = parser.parse_args(arguments)
    planted = controls.planted_faults()
    described = descriptors().get(options.target)
    is_canary = described is not None and described.is_control
    if not is_canary:
        known_target(options.target, planted)
        if options.fault not in (None, *planted[options.target]):
            raise DriverError(f"no fault '{options.fault}' is planted in {options.target}; they are {', '.join(planted[options.target])}")
    build = built(options, PRESETS["address"], "kvwitness_fuzz", "kvwitness_fuzz_controls")
    limits = with_seeds(options, build).target_limits()
    if is_canary:
        print(controls.check(build, options.target, limits[controls.sharing_seeds_with(options.target)], None, options.runs))
        return 0
    faults = [options.fault] if options.fault else planted[options.target]
    missed = []
    for fault in faults:
        try:
            print(controls.check(build, options.target, limits[options.target], fault, options.runs), flush=True)
        except DriverError as error:
            missed.append(str(error))
            say(f"MISSED: {error}")
    return 1 if missed else 0


def run_mutators(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run fuzz mutators", description="What mutating cases buys over mutating bytes.")
    parser.add_argument("--runs", type=positive, default=controls.DEFAULT_EXECUTIONS, help="executions of each campaign (default 100000)")
    parser.add_argument("--seconds", type=positive, default=10, help="seconds of each campaign that is bounded by time (default 10)")
    common(parser)
    options = parser.parse_args(arguments)
    build = with_seeds(options, built(options, PRESETS["none"], "kvwitness_fuzz", "kvwitness_fuzz_targets", "kvwitness_fuzz_controls"))
    print(controls.compare_mutators(build, build.target_limits(), options.runs, options.seconds))
    return 0


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("help", "--help", "-h"):
        arguments = ["--help"]
    commands = {"adopt": run_adopt, "prune": run_prune, "coverage": run_coverage, "rehearse": run_rehearse, "regressions": run_regressions,
                "known": run_known, "control": run_control, "mutators": run_mutators}
    try:
        if arguments and arguments[0] in commands:
            return commands[arguments[0]](arguments[1:])
        return run_campaign(arguments)
    except (DriverError, OSError) as error:
        say(f"fuzz: {error}")
        return 2
    except Exception:  # noqa: BLE001: 1 would mean a new crash
        traceback.print_exc()
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
