# Runs CUDA sources in the CPU executor. Part of the installed package and of a build that has kvwitness as a subdirectory.
include_guard(GLOBAL)

find_path(KVWITNESS_CCCL_DIR cub/block/block_scan.cuh
  HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES include/cccl include
  DOC "The folder with CCCL's headers (cub, cuda/std), for CUDA sources that include them")
mark_as_advanced(KVWITNESS_CCCL_DIR)

# kvwitness_add_simt_test(FILE.cu [NAME name] [SANITIZER none|thread|address|memory] [SCHEDULES count] [DEFINES definition...]
#                         [LIBRARIES target...] [LABELS label...] [NO_TEST])
#
# Builds FILE.cu with the C++ compiler as the executable NAME (by default the file's stem, with the sanitizer's name behind it where there is
# one) on the executor, and adds a test of that name that passes when the program exits 0. The file holds kernels and a main() that launches
# them by <kvwitness/simt.h> or by <<<>>>; no CUDA toolkit is needed. Its directory is on the include path. `extern __shared__ T name[];` and
# <<<>>> are understood in the file and in the headers that it includes in quotes by a path relative to it (elsewhere, write
# KVWITNESS_DYNAMIC_SHARED(T, name) from <kvwitness/simt/device.h> and simt::launch).
#
# A program that calls the host's side of CUDA (<<<>>>, cudaMalloc) outside of run_schedules() runs under SCHEDULES schedules, 20 by default.
#
# cuda/std and CUB's block and warp primitives are those of CCCL, in the folder KVWITNESS_CCCL_DIR (by default, that of the CUDA toolkit).
#
# SANITIZER thread reports missing barriers as data races at their source lines, address what is accessed out of bounds, memory (Clang only)
# what is used that nobody wrote. By default the program is built without one, or with that of the kvwitness build. LIBRARIES are linked;
# NO_TEST leaves the test out.
function(kvwitness_add_simt_test file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_TEST" "NAME;SANITIZER;SCHEDULES" "DEFINES;LIBRARIES;LABELS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kvwitness_add_simt_test(${file}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DEFINED arg_SANITIZER)
    set(arg_SANITIZER none)
    if(KVWITNESS_SANITIZE MATCHES "^(thread|address)$")
      set(arg_SANITIZER "${KVWITNESS_SANITIZE}")
    endif()
  elseif(NOT arg_SANITIZER MATCHES "^(none|thread|address|memory)$")
    message(FATAL_ERROR "kvwitness_add_simt_test(${file}): SANITIZER is '${arg_SANITIZER}'; it is none, thread, address or memory")
  elseif(arg_SANITIZER STREQUAL "memory" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "kvwitness_add_simt_test(${file}): SANITIZER memory needs Clang")
  endif()
  if(NOT DEFINED arg_NAME)
    cmake_path(GET file STEM LAST_ONLY arg_NAME)
    if(NOT arg_SANITIZER STREQUAL "none")
      string(APPEND arg_NAME ".${arg_SANITIZER}")
    endif()
  endif()

  cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE source)
  cmake_path(GET source PARENT_PATH source_directory)
  cmake_path(GET source FILENAME source_name)
  set(translated "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.dir/${source_name}.cc")
  set(dependencies "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.dir/${source_name}.d")
  add_custom_command(OUTPUT "${translated}"
    COMMAND kvwitness::simt_translate "${source}" "${translated}" "${dependencies}"
    DEPENDS "${source}" kvwitness::simt_translate DEPFILE "${dependencies}"
    COMMENT "Translating ${source_name} for the executor" VERBATIM)

  add_executable(${arg_NAME} "${translated}")
  target_link_libraries(${arg_NAME} PRIVATE kvwitness::simt ${arg_LIBRARIES})
  # The executor's headers come before those of a CUDA toolkit that share their names, wherever that was put on the include path.
  target_include_directories(${arg_NAME} BEFORE PRIVATE $<TARGET_PROPERTY:kvwitness::simt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_include_directories(${arg_NAME} PRIVATE "${source_directory}")
  if(KVWITNESS_CCCL_DIR)
    target_include_directories(${arg_NAME} SYSTEM PRIVATE "${KVWITNESS_CCCL_DIR}")
    # CUB's classes give a name of the namespace a meaning of their own (`using WarpScan = WarpScan<T>;`), which GCC takes for an error.
    file(STRINGS "${source}" cub_includes REGEX "#[ \t]*include[ \t]*<cub/")
    if(cub_includes AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${arg_NAME} PRIVATE -fpermissive)
    endif()
  endif()
  target_compile_definitions(${arg_NAME} PRIVATE ${arg_DEFINES})
  if(arg_SANITIZER STREQUAL "thread")
    set(flags -fsanitize=thread)
  elseif(arg_SANITIZER STREQUAL "address")
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  elseif(arg_SANITIZER STREQUAL "memory")
    set(flags -fsanitize=memory -fsanitize-recover=memory)
  endif()
  if(DEFINED flags)
    # -O1 keeps one report a defect: an optimiser may split or join the accesses of a race.
    target_compile_options(${arg_NAME} PRIVATE ${flags} -O1)
    target_link_options(${arg_NAME} PRIVATE ${flags})
  endif()
  # Lines (binutils' addr2line finds those of inlined calls in the fourth version of Clang's DWARF), and the calls by which a thread came to a
  # barrier: frame pointers, and no two calls made one.
  target_compile_options(${arg_NAME} PRIVATE -g1 $<$<CXX_COMPILER_ID:Clang>:-gdwarf-4> -fno-omit-frame-pointer -fno-optimize-sibling-calls
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-tail-merge> $<$<CXX_COMPILER_ID:GNU>:-fno-crossjumping>)
  # A misaligned access, and an index past an array, are the executor's to report in builds without UndefinedBehaviorSanitizer. The checks call
  # functions of that sanitizer's runtime, which is not linked: the executor answers.
  if(NOT arg_SANITIZER STREQUAL "address")
    target_compile_options(${arg_NAME} PRIVATE -fsanitize=alignment,bounds -fsanitize-recover=alignment,bounds)
    target_link_options(${arg_NAME} PRIVATE LINKER:--wrap=__ubsan_handle_type_mismatch_v1
      LINKER:--wrap=__ubsan_handle_out_of_bounds)
  endif()
  if(arg_SANITIZER STREQUAL "memory")
    target_link_options(${arg_NAME} PRIVATE LINKER:--wrap=__msan_warning)
  endif()
  # Polling by volatile accesses must let the other threads run. Under ThreadSanitizer the executor sees these accesses; elsewhere it counts the
  # steps of a source that has any.
  if(arg_SANITIZER STREQUAL "thread")
    target_compile_options(${arg_NAME} PRIVATE $<$<CXX_COMPILER_ID:GNU>:--param=tsan-distinguish-volatile=1>
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -tsan-distinguish-volatile>")
  else()
    file(STRINGS "${source}" volatile_accesses REGEX "(^|[^A-Za-z0-9_])volatile([^A-Za-z0-9_]|$)")
    if(volatile_accesses)
      target_compile_options(${arg_NAME} PRIVATE -fsanitize-coverage=trace-pc)
      target_link_options(${arg_NAME} PRIVATE LINKER:--wrap=__sanitizer_cov_trace_pc)
    endif()
  endif()
  if(arg_SANITIZER STREQUAL "thread")
    kvwitness_simt_thread_launcher(launcher)
    set_property(TARGET ${arg_NAME} PROPERTY CROSSCOMPILING_EMULATOR ${launcher})
  endif()
  if(NOT arg_NO_TEST)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    if(NOT DEFINED arg_SCHEDULES)
      set(arg_SCHEDULES 20)
    endif()
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "KVWITNESS_SIMT_SCHEDULES=${arg_SCHEDULES}")
  endif()
endfunction()

# What must come before a program built with GCC's ThreadSanitizer. Linux places memory at random over up to 32 bits of addresses, more than
# GCC's runtime before version 14 copes with ("unexpected memory mapping"); Clang's starts itself again without that.
function(kvwitness_simt_thread_launcher out)
  set(${out} "" PARENT_SCOPE)
  set(setting /proc/sys/vm/mmap_rnd_bits)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 14 OR NOT EXISTS "${setting}")
    return()
  endif()
  execute_process(COMMAND cat "${setting}" OUTPUT_VARIABLE bits OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(bits MATCHES "^[0-9]+$" AND bits GREATER 28)
    execute_process(COMMAND setarch -R true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(${out} "setarch;-R" PARENT_SCOPE)
    endif()
  endif()
endfunction()
