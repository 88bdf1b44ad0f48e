/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces Arduino's header on this machine: the functions that a sketch calls, and a main program.
 */
#ifndef KILN_TESTS_PACKAGE_ARDUINO_ARDUINO_H_
#define KILN_TESTS_PACKAGE_ARDUINO_ARDUINO_H_

#include <stdio.h>

struct SerialPort {
  void begin(unsigned long rate) { rate_ = rate; }
  void print(const char* text) { printf("%lu: %s", rate_, text); }
  void println(int number) { printf("%d\n", number); }

 private:
  unsigned long rate_ = 0;
};

static SerialPort Serial;
inline void delay(unsigned long) {}

void setup();
void loop();

int main() {
  setup();
  loop();
  return 0;
}

#endif /* KILN_TESTS_PACKAGE_ARDUINO_ARDUINO_H_ */
