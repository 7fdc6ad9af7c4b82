# Cross-builds the library and runs the tests of its backends by emulation, on a processor with SVE2 and on one with NEON alone.
# Skipped, with the reason, where a package is missing.
#   cmake -DSOURCE_DIR=... -DWORK_DIR=... -P arm64_test.cmake
foreach(program aarch64-linux-gnu-g++ qemu-aarch64-static)
  find_program(found_program ${program} NO_CACHE)
  if(NOT found_program)
    message("SKIPPED: ${program} is not installed (g++-aarch64-linux-gnu, qemu-user-static)")
    return()
  endif()
  unset(found_program)
endforeach()
foreach(package hwy GTest)
  if(NOT EXISTS "/usr/lib/aarch64-linux-gnu/cmake/${package}")
    message("SKIPPED: no arm64 ${package} (dpkg --add-architecture arm64; libhwy-dev:arm64 libgtest-dev:arm64)")
    return()
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/tests/lib/simd/arm64" -B "${WORK_DIR}" -G Ninja -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_TOOLCHAIN_FILE=${SOURCE_DIR}/tests/lib/simd/arm64/toolchain.cmake")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}" --target backends_test --parallel 2)

# Each processor with the backends that must have been judged on it.
foreach(processor_and_backends "max;sve2;sve;neon" "max,sve2048=on,sve-max-vq=16;sve2;sve;neon" "cortex-a57;neon")
  list(POP_FRONT processor_and_backends processor)
  run(qemu-aarch64-static -cpu ${processor} "${WORK_DIR}/backends_test")
  foreach(backend IN LISTS processor_and_backends)
    if(NOT output MATCHES "OK \\] Backends/EveryBackend.GivesTheScalarAnswersOnWideRows/${backend}[ \n]")
      message(FATAL_ERROR "${backend} was not judged on ${processor}:\n${output}")
    endif()
  endforeach()
  message("${processor}: ${processor_and_backends} give the scalar answers")
endforeach()
