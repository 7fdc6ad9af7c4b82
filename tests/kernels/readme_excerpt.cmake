# cmake -DREADME=file -DSOURCE=file -P readme_excerpt.cmake
#
# The indented lines behind "<!-- from ... -->" in the README must be lines of the source, in one piece, two columns further in.
file(READ "${README}" readme)
file(READ "${SOURCE}" text)
string(REGEX MATCH "<!-- from [^\n]*-->\n\n((    [^\n]*\n)+)" found "${readme}")
if(NOT found)
  message(FATAL_ERROR "${README} holds no excerpt")
endif()
string(REPLACE "\n    " "\n  " excerpt "\n${CMAKE_MATCH_1}")
string(FIND "${text}" "${excerpt}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "The excerpt in ${README} is not in ${SOURCE}:\n${excerpt}")
endif()
