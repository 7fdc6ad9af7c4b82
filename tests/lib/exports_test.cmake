# The shared library exports the functions that kvwitness.h declares: every one of them, and nothing else. Needs NM, LIBRARY and HEADER.
execute_process(COMMAND "${NM}" -D --defined-only --format=posix "${LIBRARY}" OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+" exported "${table}")
list(TRANSFORM exported STRIP)
list(SORT exported)

file(READ "${HEADER}" header)
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" header "${header}")
string(REGEX MATCHALL "kvw_[a-z_]+\\(" declared "${header}")
list(TRANSFORM declared REPLACE "\\($" "")
list(SORT declared)

list(LENGTH declared count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} functions were found in ${HEADER}")
endif()
if(NOT exported STREQUAL declared)
  message(FATAL_ERROR "exported: ${exported}\ndeclared: ${declared}")
endif()
