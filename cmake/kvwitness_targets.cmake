# The flags and habits that every target of the project shares.
include_guard(GLOBAL)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Preconditions are checked (lib/include/kvwitness/assertions.h) in debug, sanitizer and fuzz builds. Not where coverage is measured: what an
# assertion does when it fails would count as code that no test reaches.
if(KVWITNESS_SANITIZE STREQUAL "" AND "${KVWITNESS_FUZZ_ENGINE}" STREQUAL "")
  add_compile_definitions($<$<CONFIG:Debug>:KVWITNESS_ASSERTIONS=1>)
elseif(NOT KVWITNESS_SANITIZE STREQUAL "coverage")
  add_compile_definitions(KVWITNESS_ASSERTIONS=1)
endif()

# kvwitness_target(TARGET): C++23, the project's warnings and, where asked for, its sanitizers.
# Include paths are written from the root of the repository ("properties/case.h") or, for public headers, as installed
# (<kvwitness/witness.h>).
function(kvwitness_target target)
  target_compile_features(${target} PRIVATE cxx_std_23)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE "${kvwitness_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion>
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -pedantic>)
  if(KVWITNESS_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
  endif()
  kvwitness_sanitize(${target})
endfunction()

# kvwitness_sanitize(TARGET): the sanitizers of KVWITNESS_SANITIZE. Kept apart from kvwitness_target because the CPU executor of
# the CUDA source must stay uninstrumented under ThreadSanitizer.
function(kvwitness_sanitize target)
  if(KVWITNESS_SANITIZE STREQUAL "address")
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  elseif(KVWITNESS_SANITIZE STREQUAL "thread")
    set(flags -fsanitize=thread -fno-omit-frame-pointer)
  elseif(KVWITNESS_SANITIZE STREQUAL "coverage")
    set(flags -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc)
  elseif(NOT KVWITNESS_SANITIZE STREQUAL "")
    message(FATAL_ERROR "KVWITNESS_SANITIZE is '${KVWITNESS_SANITIZE}'; it is empty, address, thread or coverage")
  else()
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:${flags}>)
  target_link_options(${target} PRIVATE ${flags})
endfunction()
