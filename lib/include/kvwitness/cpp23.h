// The language of the C++ interface: C++23, for std::expected. An older one gets this error, and of the headers that
// include this one nothing that would give more. kvwitness.h has the same operations for C and for any C++.
#ifndef KVWITNESS_CPP23_H
#define KVWITNESS_CPP23_H

// GCC 12 says 202100 for -std=c++23.
#if defined(__cplusplus) && __cplusplus >= 202100L
#define KVWITNESS_CPP23 1
#else
#define KVWITNESS_CPP23 0
#error "the C++ interface of kvwitness needs C++23 (-std=c++23); kvwitness.h serves C and older C++"
#endif

#endif  // KVWITNESS_CPP23_H
