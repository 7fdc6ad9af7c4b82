// Starts a program for which the system denies one call, as a container's filter or an older kernel does:
//
//   deny_system_call NAME[,NAME...] ENOSYS|EPERM PROGRAM [ARGUMENT...]
//
// A name is that of the call, or the number of one that this file does not know. By seccomp's filter mode
// (Documentation/userspace-api/seccomp_filter.rst of Linux). Exit status 125 where it cannot be denied here.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANNOT_DENY = 125, MOST_CALLS = 16 };

struct call {
  const char* name;
  long number;
};

// Calls that only some processors have stand with the number -1 on others.
#ifndef SYS_close_range
#define SYS_close_range (-1)
#endif
#ifndef SYS_clone3
#define SYS_clone3 (-1)
#endif
#ifndef SYS_dup2
#define SYS_dup2 (-1)
#endif
#ifndef SYS_fork
#define SYS_fork (-1)
#endif
#ifndef SYS_vfork
#define SYS_vfork (-1)
#endif
#ifndef SYS_poll
#define SYS_poll (-1)
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open (-1)
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset (-1)
#endif

static const struct call CALLS[] = {{"clone", SYS_clone},
                                    {"clone3", SYS_clone3},
                                    {"close", SYS_close},
                                    {"close_range", SYS_close_range},
                                    {"dup2", SYS_dup2},
                                    {"execve", SYS_execve},
                                    {"fallocate", SYS_fallocate},
                                    {"fcntl", SYS_fcntl},
                                    {"fork", SYS_fork},
                                    {"fsync", SYS_fsync},
                                    {"ftruncate", SYS_ftruncate},
                                    {"futex", SYS_futex},
                                    {"getdents64", SYS_getdents64},
                                    {"getpid", SYS_getpid},
                                    {"getppid", SYS_getppid},
                                    {"kill", SYS_kill},
                                    {"landlock_create_ruleset", SYS_landlock_create_ruleset},
                                    {"madvise", SYS_madvise},
                                    {"memfd_create", SYS_memfd_create},
                                    {"mprotect", SYS_mprotect},
                                    {"pidfd_open", SYS_pidfd_open},
                                    {"pipe2", SYS_pipe2},
                                    {"poll", SYS_poll},
                                    {"ppoll", SYS_ppoll},
                                    {"prctl", SYS_prctl},
                                    {"prlimit64", SYS_prlimit64},
                                    {"ptrace", SYS_ptrace},
                                    {"recvfrom", SYS_recvfrom},
                                    {"recvmsg", SYS_recvmsg},
                                    {"rt_sigaction", SYS_rt_sigaction},
                                    {"rt_sigprocmask", SYS_rt_sigprocmask},
                                    {"rt_sigtimedwait", SYS_rt_sigtimedwait},
                                    {"sched_getaffinity", SYS_sched_getaffinity},
                                    {"seccomp", SYS_seccomp},
                                    {"sendmsg", SYS_sendmsg},
                                    {"sendto", SYS_sendto},
                                    {"setpgid", SYS_setpgid},
                                    {"setsid", SYS_setsid},
                                    {"sigaltstack", SYS_sigaltstack},
                                    {"signalfd4", SYS_signalfd4},
                                    {"socketpair", SYS_socketpair},
                                    {"userfaultfd", SYS_userfaultfd},
                                    {"vfork", SYS_vfork},
                                    {"wait4", SYS_wait4},
                                    {"waitid", SYS_waitid}};

static long number_of(const char* name) {
  for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); ++i) {
    if (strcmp(CALLS[i].name, name) == 0) return CALLS[i].number;
  }
  char* end = NULL;
  const long number = strtol(name, &end, 10);
  if (end == name || *end != '\0') {
    fprintf(stderr, "deny_system_call: '%s' is no call that it knows\n", name);
    exit(CANNOT_DENY);
  }
  return number;
}

int main(int argc, char** argv) {
  if (argc < 4 || (strcmp(argv[2], "ENOSYS") != 0 && strcmp(argv[2], "EPERM") != 0)) {
    fprintf(stderr, "deny_system_call NAME[,NAME...] ENOSYS|EPERM PROGRAM [ARGUMENT...]\n");
    return CANNOT_DENY;
  }
  const unsigned error = strcmp(argv[2], "ENOSYS") == 0 ? ENOSYS : EPERM;
  struct sock_filter filter[2 * MOST_CALLS + 2];
  unsigned short length = 0;
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char* name = strtok(argv[1], ","); name != NULL && length < 2 * MOST_CALLS; name = strtok(NULL, ",")) {
    const long number = number_of(name);
    if (number < 0) continue;  // as missing as can be
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("deny_system_call: seccomp");
    return CANNOT_DENY;
  }
  execv(argv[3], argv + 3);
  perror(argv[3]);
  return CANNOT_DENY;
}
