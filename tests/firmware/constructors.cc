// SPDX-License-Identifier: Apache-2.0
//
// C++ objects with static storage are constructed before main, in the order of their source.
namespace {

int made = 0;

struct Counted {
  Counted() : number(++made) {}
  int number;
};

Counted first;
Counted second;

}  // namespace

int main() { return made == 2 && first.number == 1 && second.number == 2 ? 0 : 1; }
