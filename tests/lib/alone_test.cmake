# The library alone configures with every other part off and every package that those need out of reach. Needs WORK_DIR, SOURCE_DIR, GENERATOR,
# C_COMPILER and CXX_COMPILER.
file(REMOVE_RECURSE "${WORK_DIR}")
set(out_of_reach GTest rapidcheck hwy CLI11 fmt nlohmann_json Boost CUDAToolkit benchmark)
list(TRANSFORM out_of_reach REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}" -G "${GENERATOR}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DKVWITNESS_BUILD_HARNESS=OFF
    -DKVWITNESS_BUILD_TESTS=OFF -DKVWITNESS_BUILD_FUZZ=OFF -DKVWITNESS_CUDA=OFF ${out_of_reach}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}" --target help OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
foreach(target kvwitness_static kvwitness_shared)
  if(NOT targets MATCHES "${target}")
    message(FATAL_ERROR "no target ${target}")
  endif()
endforeach()
if(targets MATCHES "kvwitness_judge|kvwitness_program")
  message(FATAL_ERROR "the harness is built although it is off")
endif()
