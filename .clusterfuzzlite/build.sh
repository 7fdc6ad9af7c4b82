#!/usr/bin/env bash
# Builds every fuzz target for whatever engine and sanitizers the environment names (CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE) into $OUT:
# the program, its seeds, its options and, where it has one, its dictionary. Called with `bash -eux` in the repository's root by ClusterFuzzLite,
# by OSS-Fuzz and by `./run fuzz rehearse`.
set -o pipefail

build="$WORK/kvwitness"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DKVWITNESS_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DKVWITNESS_BUILD_FUZZ=ON -DKVWITNESS_BUILD_HARNESS=OFF -DKVWITNESS_BUILD_TESTS=OFF \
  -DKVWITNESS_CUDA=OFF -DKVWITNESS_INSTALL=OFF
cmake --build "$build" --target kvwitness_fuzz_targets kvwitness_fuzz

# The replayer writes the seeds; what it allocates it may keep until its end.
ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}" LLVM_PROFILE_FILE="$WORK/seeds.profraw" "$build/kvwitness_fuzz" seeds "$WORK/seeds" corpus

"$build/kvwitness_fuzz" targets > "$WORK/targets"
while read -r target max_len _; do
  cp "$build/fuzz/targets/$target" "$OUT/$target"
  rm -f "$OUT/${target}_seed_corpus.zip"
  (cd "$WORK/seeds/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" .)
  printf '[libfuzzer]\nmax_len = %s\ntimeout = 25\n' "$max_len" > "$OUT/$target.options"
  if [ -f "fuzz/targets/$target.dict" ]; then
    cp "fuzz/targets/$target.dict" "$OUT/$target.dict"
  fi
done < "$WORK/targets"
