# Finds nvcc, chooses the architectures and says what a CUDA target of the project is. Sets KVWITNESS_HAVE_CUDA.
include_guard(GLOBAL)

# One architecture and the PTX that every GPU from it on takes build in seconds; "all" is what a release ships.
set(KVWITNESS_CUDA_ARCHITECTURES "90-real;75-virtual" CACHE STRING
    "Architectures of the CUDA library, as CMAKE_CUDA_ARCHITECTURES takes them; all: every one that nvcc knows from sm_75 on, and PTX")

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "kvwitness: nvcc not found; the CUDA library is left out")
  set(KVWITNESS_HAVE_CUDA OFF)
  return()
endif()

# nvcc refuses a build without an architecture while CMake tries it out.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(KVWITNESS_HAVE_CUDA ON)

# kvwitness_cuda_architectures(OUT): KVWITNESS_CUDA_ARCHITECTURES, with "all" spelt out.
function(kvwitness_cuda_architectures out)
  set(architectures ${KVWITNESS_CUDA_ARCHITECTURES})
  if(architectures STREQUAL "all")
    execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "sm_[0-9]+" listed "${listed}")
    set(architectures "")
    foreach(code IN LISTS listed)
      string(SUBSTRING "${code}" 3 -1 number)
      if(number GREATER_EQUAL 75)
        list(APPEND architectures "${number}-real")
      endif()
    endforeach()
    list(APPEND architectures 75-virtual)
  endif()
  set(${out} "${architectures}" PARENT_SCOPE)
endfunction()

# kvwitness_cuda_target(TARGET): CUDA C++17 for those architectures, with the project's warnings.
function(kvwitness_cuda_target target)
  kvwitness_cuda_architectures(architectures)
  set_target_properties(${target} PROPERTIES
    CUDA_ARCHITECTURES "${architectures}" CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
    CUDA_SEPARABLE_COMPILATION OFF CUDA_RUNTIME_LIBRARY Static POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE "${kvwitness_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<BOOL:${KVWITNESS_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)
endfunction()
