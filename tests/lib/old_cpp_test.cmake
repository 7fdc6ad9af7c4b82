# Each header of the C++ interface, compiled as an older C++, gives one error, which names the language that it needs; as C++23 it gives none, and
# kvwitness.h none in either. Needs CXX_COMPILER and INCLUDE_DIR.
foreach(header witness backend gate nulls select kvwitness)
  foreach(standard 17 20 23)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${CXX_COMPILER}" -std=c++${standard} -fsyntax-only "-I${INCLUDE_DIR}" -include kvwitness/${header}.h -x c++
        /dev/null
      OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
    string(REGEX MATCHALL "error:" errors "${output}")
    list(LENGTH errors count)
    set(wanted 0)
    if(standard LESS 23 AND NOT header STREQUAL "kvwitness")
      set(wanted 1)
    endif()
    if(NOT count EQUAL wanted OR (wanted AND NOT output MATCHES "needs C..23") OR (NOT wanted AND NOT status EQUAL 0))
      message(SEND_ERROR "${header}.h as C++${standard}: ${count} errors in place of ${wanted}\n${output}")
    endif()
  endforeach()
endforeach()
