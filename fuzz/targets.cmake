# What the descriptors in targets/ say (target.h), read from the files: nothing else lists the targets. Sets
# kvwitness_fuzz_targets and kvwitness_fuzz_canaries, and for each NAME of both
#
#   NAME_mutates      whether it has a mutator of its own
#   NAME_dictionary   its dictionary, or nothing
#   NAME_test_runs    executions in `./run test`
#   NAME_has_threads  whether it runs under ThreadSanitizer
#   NAME_finds        the planted faults that it must find, a list
#
# and writes them to target_list.h, from which the list in C++ is made; a test compares that with the descriptors.
file(GLOB descriptor_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/targets/*.cc")
set(kvwitness_fuzz_targets "")
set(kvwitness_fuzz_canaries "")
set(target_list "")
foreach(file IN LISTS descriptor_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(REGEX MATCH "\nextern const Target ${name} = {.*" descriptor "${text}")
  if(NOT descriptor)
    message(FATAL_ERROR "${file}: there is no `extern const Target ${name} = {` (fuzz/README.md, \"Adding a target\")")
  endif()
  foreach(flag has_threads is_control)
    set(${name}_${flag} false)
    if(descriptor MATCHES "\\.${flag} = true")
      set(${name}_${flag} true)
    endif()
  endforeach()
  set(${name}_mutates false)
  if(descriptor MATCHES "\\.mutator = &")
    set(${name}_mutates true)
  endif()
  set(${name}_test_runs 0)
  if(descriptor MATCHES "\\.test_runs = ([0-9]+)")
    set(${name}_test_runs ${CMAKE_MATCH_1})
  endif()
  set(${name}_finds "")
  if(descriptor MATCHES "\\.finds =([^,]*),")
    string(REGEX MATCHALL "[a-z0-9_]+" ${name}_finds "${CMAKE_MATCH_1}")
  endif()
  set(${name}_dictionary "")
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/targets/${name}.dict")
    set(${name}_dictionary "${CMAKE_CURRENT_SOURCE_DIR}/targets/${name}.dict")
  endif()
  if(${name}_is_control)
    list(APPEND kvwitness_fuzz_canaries ${name})
  else()
    list(APPEND kvwitness_fuzz_targets ${name})
  endif()
  string(JOIN " " finds ${${name}_finds})
  string(APPEND target_list " \\\n  X(${name}, ${${name}_mutates}, ${${name}_test_runs}, ${${name}_has_threads}, "
    "\"${finds}\", ${${name}_is_control})")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/fuzz/target_list.h" @ONLY CONTENT
"// Written by fuzz/targets.cmake: X(name, mutates, test_runs, has_threads, finds, is_control).
#ifndef FUZZ_TARGET_LIST_H
#define FUZZ_TARGET_LIST_H

#define KVWITNESS_FUZZ_TARGETS(X)${target_list}

#endif  // FUZZ_TARGET_LIST_H
")
