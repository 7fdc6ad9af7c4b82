# cmake -DSOURCE=file.cu -DOUTPUT=file.cu.cc -P kvwitness_simt_translate.cmake
#
# A copy of the source in which each declaration of dynamic shared memory is one that C++ has. Line numbers and the file's name stay.
file(READ "${SOURCE}" text)
string(REGEX REPLACE
  "extern[ \t]+__shared__[ \t]+((__align__|alignas)\\([^)]*\\)[ \t]+)?([A-Za-z_][A-Za-z_0-9:<>, \t]*[A-Za-z_0-9>])[ \t]+([A-Za-z_][A-Za-z_0-9]*)[ \t]*\\[[ \t]*\\][ \t]*;"
  "\\3* const \\4 = static_cast<\\3*>(::kvwitness::simt::detail::dynamic_shared_memory());"
  text "${text}")
file(WRITE "${OUTPUT}" "#line 1 \"${SOURCE}\"\n${text}")
