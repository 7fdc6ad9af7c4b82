#include <kvwitness/simt.h>
int main() {
  return kvwitness::simt::launch({}, 3).ok();
}
