# Configures, builds and runs a consumer's project. Needs ROUTE, CONSUMER_DIR, WORK_DIR, SOURCE_DIR, PREFIX, LIBDIR, GENERATOR, C_COMPILER and
# CXX_COMPILER.
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
file(REMOVE_RECURSE "${WORK_DIR}")

# As a subproject the library is built without Highway and everything else that it can do without.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${WORK_DIR}" -G "${GENERATOR}" -DCMAKE_BUILD_TYPE=Debug
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
    "-DKVWITNESS_ROUTE=${ROUTE}" "-DKVWITNESS_SOURCE_DIR=${SOURCE_DIR}" -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK_DIR}" --output-on-failure --no-tests=error
  COMMAND_ERROR_IS_FATAL ANY)
