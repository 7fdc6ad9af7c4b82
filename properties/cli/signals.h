// SIGINT, SIGTERM and SIGHUP to the program: they ask it to end (interruption.h), and it tells what it has found. Where it may
// wait for ever without looking, and when they come again, they end it at once.
#ifndef PROPERTIES_CLI_SIGNALS_H
#define PROPERTIES_CLI_SIGNALS_H

namespace kvwitness::harness::cli {

// From here on. One that is ignored, as SIGHUP is under nohup, stays ignored. Programs behind pipes and worker processes
// end with the program; its exit status is then 128 and the signal's number.
void take_signals();

// While one lives, a signal ends the program at once: to be made before it reads what a person gives or prints much.
class EndAtOnce {
 public:
  EndAtOnce();
  ~EndAtOnce();
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;
};

// Throws TimeUp where a signal has asked the program to end.
void end_where_interrupted();

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_SIGNALS_H
