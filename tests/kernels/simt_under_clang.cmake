# Builds the executor's table of verdicts with another compiler than this build's, and runs it. Needs SOURCE_DIR, WORK_DIR, GENERATOR, C_COMPILER,
# CXX_COMPILER and JOBS.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}" -G "${GENERATOR}" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DKVWITNESS_CUDA=OFF -DKVWITNESS_BUILD_TESTS=ON
    -DKVWITNESS_BUILD_FUZZ=OFF -DKVWITNESS_INSTALL=OFF
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}" -j ${JOBS} --target simt_verdict_programs COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK_DIR}" -R "^simt[.](verdicts|static-shared|distances)[.]" -LE slow -j ${JOBS}
    --output-on-failure --no-tests=error
  COMMAND_ERROR_IS_FATAL ANY)
