// A file that a reader sees as it was or as it shall be, never in between, whatever ends the writer.
#ifndef PROPERTIES_RUN_WHOLE_FILE_H
#define PROPERTIES_RUN_WHOLE_FILE_H

#include <string>
#include <string_view>

namespace kvwitness::harness {

// Writes a new file beside the path, has it stored, and renames it. 0, or the number of the error; the old file then stays
// and nothing is left beside it.
int replace_file(const std::string& path, std::string_view contents);

// Writes all of it to a descriptor, then closes that; 0, or the number of the error.
int write_and_close(int descriptor, std::string_view contents);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_WHOLE_FILE_H
