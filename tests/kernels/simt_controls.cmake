# Positive controls of the executor: programs with a defect that must be reported, and the intact ones that must not.

add_executable(simt_control simt_control.cc)
kvwitness_target(simt_control)
set(kvwitness_simt_results "${CMAKE_CURRENT_BINARY_DIR}/simt_controls")
file(MAKE_DIRECTORY "${kvwitness_simt_results}")

# kvwitness_add_simt_program(NAME FILE.cu [SANITIZER ...] [DEFINES ...] [LIBRARIES ...]): the program, with the project's warnings, without a test.
function(kvwitness_add_simt_program name file)
  kvwitness_add_simt_test(${file} NAME ${name} NO_TEST ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_23)
  target_include_directories(${name} PRIVATE "${kvwitness_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wconversion $<$<BOOL:${KVWITNESS_WERROR}>:-Werror> $<$<CONFIG:Release>:-O1>)
endfunction()

# kvwitness_add_simt_control(NAME PROGRAM target EXPECT expectation [ARGUMENTS ...] [AT file TAG text] [SLOW]): the test simt.NAME, which runs
# the program and judges its report as simt_control.cc describes. Labelled simt; listed in the table that the test simt.table prints, but for slow
# ones, which have the label slow as well.
function(kvwitness_add_simt_control name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "PROGRAM;EXPECT;AT;TAG" "ARGUMENTS")
  set(place "")
  if(DEFINED arg_AT)
    cmake_path(ABSOLUTE_PATH arg_AT NORMALIZE)
    set(place --at "${arg_AT}" --tag "${arg_TAG}")
  endif()
  get_target_property(launcher ${arg_PROGRAM} CROSSCOMPILING_EMULATOR)
  if(NOT launcher)
    set(launcher "")
  endif()
  add_test(NAME simt.${name} COMMAND simt_control --name ${name} --expect "${arg_EXPECT}" ${place}
    --results "${kvwitness_simt_results}" -- ${launcher} $<TARGET_FILE:${arg_PROGRAM}> ${arg_ARGUMENTS})
  if(arg_SLOW)
    set_tests_properties(simt.${name} PROPERTIES LABELS "simt;slow")
    return()
  endif()
  set_tests_properties(simt.${name} PROPERTIES LABELS simt)
  set_property(DIRECTORY APPEND PROPERTY kvwitness_simt_controls ${name})
endfunction()

# kvwitness_add_simt_table(): call once, after the last control. `ctest -L simt -V` shows the table.
function(kvwitness_add_simt_table)
  get_property(names DIRECTORY PROPERTY kvwitness_simt_controls)
  add_test(NAME simt.table COMMAND simt_control --table "${kvwitness_simt_results}" ${names})
  list(TRANSFORM names PREPEND simt.)
  set_tests_properties(simt.table PROPERTIES LABELS simt DEPENDS "${names}")
endfunction()
