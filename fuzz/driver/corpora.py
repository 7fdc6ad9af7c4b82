"""Corpora: what they cover, and making them smaller without losing any of it."""

import re
import shutil
import subprocess
from pathlib import Path

from layout import Build, DriverError, sanitizer_environment

LOADED = re.compile(r"^#\d+\s+(?:INITED|DONE)\s+cov: (\d+) ft: (\d+)", re.MULTILINE)


def run_engine(program: Path, *arguments: str, seconds: int = 3600) -> str:
    done = subprocess.run([str(program), *arguments], capture_output=True, env=sanitizer_environment(), timeout=seconds, check=False)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != 0:
        raise DriverError(f"{program.name} {' '.join(arguments)} ended with {done.returncode}: {output[-800:]}")
    return output


def coverage_of(program: Path, limit: int, *folders: Path) -> tuple[int, int]:
    """Edges and features that the folders' files reach together."""
    loaded = LOADED.search(run_engine(program, "-runs=0", f"-max_len={limit}", *map(str, folders)))
    if not loaded:
        raise DriverError(f"{program.name} did not say what {', '.join(map(str, folders))} cover")
    return int(loaded.group(1)), int(loaded.group(2))


def size_of(folder: Path) -> tuple[int, int]:
    """How many files, and how many bytes."""
    sizes = [file.stat().st_size for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
    return len(sizes), sum(sizes)


def prune(build: Build, target: str, limit: int, corpus: Path) -> str:
    """Merges the corpus and the seeds into a fresh folder and puts it in the corpus's place, unless it reaches fewer edges. Says what came of it."""
    program = build.target(target)
    before_files, before_bytes = size_of(corpus)
    if before_files == 0:
        return f"{target}: no corpus yet"
    seeds = build.seeds_folder / target
    edges, _ = coverage_of(program, limit, corpus, seeds)
    fresh = corpus.with_name(corpus.name + ".merged")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    run_engine(program, "-merge=1", f"-max_len={limit}", "-timeout=25", str(fresh), str(corpus), str(seeds))
    merged_edges, _ = coverage_of(program, limit, fresh)
    if merged_edges < edges:
        shutil.rmtree(fresh)
        return f"{target}: kept as it is; the merged corpus would reach {merged_edges} edges of {edges}"
    old = corpus.with_name(corpus.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    corpus.rename(old)
    fresh.rename(corpus)
    shutil.rmtree(old)
    files, size = size_of(corpus)
    return f"{target}: {before_files} files of {before_bytes} bytes -> {files} files of {size} bytes, {merged_edges} edges kept"
