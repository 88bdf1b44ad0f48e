// SPDX-License-Identifier: Apache-2.0
//
// The encodings are those of the Armv8-M Architecture Reference Manual (DDI 0553), chapter C2.
#include "tools/firmware/thumb.h"

// Returns the bits [low, low + size) of a half-word.
static int Bits(uint16_t word, int low, int size) { return (word >> low) & ((1 << size) - 1); }

static int BitCount(uint16_t word) {
  int count = 0;
  for (; word != 0; word &= (uint16_t)(word - 1)) ++count;
  return count;
}

static struct ThumbInstruction Plain(enum ThumbKind kind) {
  const struct ThumbInstruction result = {
      kind, 1, 0, kThumbNoRegister, {kThumbNoRegister, kThumbNoRegister}};
  return result;
}

static struct ThumbInstruction Multiple(int is_load, int count, int loads_pc) {
  struct ThumbInstruction result = Plain(is_load ? kThumbLoadMultiple : kThumbStoreMultiple);
  result.count = count;
  result.loads_pc = is_load && loads_pc;
  return result;
}

// Returns a load or store of one register. `index` may be kThumbNoRegister.
static struct ThumbInstruction Single(int is_load, int target, int base, int index) {
  const int is_indexed = index != kThumbNoRegister;
  struct ThumbInstruction result =
      Plain(is_load ? kThumbLoad : (is_indexed ? kThumbStoreIndexed : kThumbStore));
  result.address_of[0] = base;
  result.address_of[1] = index;
  if (is_load) result.target = target;
  result.loads_pc = is_load && target == kThumbPc;
  return result;
}

// Decodes ADD, CMP, MOV, BX and BLX with any register.
static struct ThumbInstruction DecodeHighRegister(uint16_t first) {
  const int operation = Bits(first, 8, 2), written = Bits(first, 0, 3) | Bits(first, 7, 1) << 3;
  const int compares = operation == 1;
  const int jumps = operation == 3 || (written == kThumbPc && !compares);
  return Plain(jumps ? kThumbBranch : kThumbSimple);
}

// Decodes encodings that begin with 1011.
static struct ThumbInstruction DecodeMiscellaneous16(uint16_t first) {
  const int saves_link = Bits(first, 8, 1);
  if (Bits(first, 9, 2) == 2) {  // PUSH, POP
    const int is_pop = Bits(first, 11, 1);
    return Multiple(is_pop, BitCount(first & 0xFF) + saves_link, saves_link);
  }
  return Plain((first & 0xF500) == 0xB100 ? kThumbBranch : kThumbSimple);  // CBZ, CBNZ
}

static struct ThumbInstruction Decode16(uint16_t first) {
  const int low = Bits(first, 0, 3), middle = Bits(first, 3, 3), is_load = Bits(first, 11, 1);
  switch (Bits(first, 12, 4)) {
    case 0x4:
      if (is_load) return Single(1, Bits(first, 8, 3), kThumbPc, kThumbNoRegister);
      if (Bits(first, 10, 1)) return DecodeHighRegister(first);
      return Plain(Bits(first, 6, 4) == 0xD ? kThumbMultiply : kThumbSimple);
    case 0x5:  // The first three operations are stores.
      return Single(Bits(first, 9, 3) >= 3, low, middle, Bits(first, 6, 3));
    case 0x6:
    case 0x7:
    case 0x8:
      return Single(is_load, low, middle, kThumbNoRegister);
    case 0x9:
      return Single(is_load, Bits(first, 8, 3), 13, kThumbNoRegister);
    case 0xB:
      return DecodeMiscellaneous16(first);
    case 0xC:
      return Multiple(is_load, BitCount(first & 0xFF), 0);
    case 0xD:
      return Plain(Bits(first, 8, 4) < 0xE ? kThumbBranch : kThumbSimple);
    case 0xE:
      return Plain(kThumbBranch);
    default:
      return Plain(kThumbSimple);
  }
}

// Decodes LDM, STM, LDRD, STRD, exclusive accesses and table branches.
static struct ThumbInstruction DecodeDoubleOrMultiple(uint16_t first, uint16_t second) {
  const int is_load = Bits(first, 4, 1);
  if (!Bits(first, 6, 1)) return Multiple(is_load, BitCount(second), Bits(second, 15, 1));
  if ((first & 0x0120) != 0) return Multiple(is_load, 2, 0);
  if ((first & 0xFFF0) == 0xE8D0 && (second & 0xFFE0) == 0xF000) return Plain(kThumbTableBranch);
  return Single(is_load, Bits(second, 12, 4), Bits(first, 0, 4), kThumbNoRegister);
}

static struct ThumbInstruction DecodeSingle32(uint16_t first, uint16_t second) {
  const int is_load = Bits(first, 4, 1), is_word = Bits(first, 5, 2) == 2;
  const int base = Bits(first, 0, 4), target = Bits(second, 12, 4);
  const int is_indexed = base != kThumbPc && !Bits(first, 7, 1) && Bits(second, 6, 6) == 0;
  if (is_load && target == kThumbPc && !is_word) return Plain(kThumbSimple);  // a hint: PLD
  return Single(is_load, target, base, is_indexed ? Bits(second, 0, 4) : kThumbNoRegister);
}

static struct ThumbInstruction DecodeMultiply(uint16_t first, uint16_t second) {
  const int operation = Bits(first, 4, 3);
  const int is_long = Bits(first, 7, 1), adds = Bits(second, 12, 4) != 15;
  if (!is_long) return Plain(operation == 0 && adds ? kThumbMultiplyAdd : kThumbMultiply);
  if (operation == 1 || operation == 3) return Plain(kThumbDivide);
  return Plain(operation < 4 ? kThumbMultiplyLong : kThumbMultiplyAddLong);
}

// Decodes branches and the encodings between them.
static struct ThumbInstruction DecodeBranch32(uint16_t first, uint16_t second) {
  switch (second & 0xD000) {
    case 0x8000:
      return Plain(Bits(first, 7, 3) != 7 ? kThumbBranch : kThumbSimple);
    case 0x9000:
      return Plain(kThumbBranch);
    case 0xD000:
      return Plain(kThumbCall);
    default:  // low-overhead loops
      if ((second & 0x2001) != 1) return Plain(kThumbSimple);
      return Plain(Bits(first, 0, 4) == 15 ? kThumbLoopEnd : kThumbBranch);
  }
}

static struct ThumbInstruction DecodeFloat(uint16_t first, uint16_t second) {
  const int is_load = Bits(first, 4, 1), words = second & 0xFF;
  const int operation = Bits(first, 4, 2) | Bits(first, 7, 1) << 2;
  if ((first & 0xFFE0) == 0xEC40) return Plain(kThumbFloatMovePair);
  if ((first & 0xFF20) == 0xED00) {  // VLDR, VSTR
    return Multiple(is_load, Bits(second, 8, 4) == 0xB ? 2 : 1, 0);
  }
  if ((first & 0xFE00) == 0xEC00) return Multiple(is_load, words, 0);
  if (Bits(first, 12, 1) || Bits(second, 4, 1)) return Plain(kThumbFloatAdd);
  if (operation == 4) return Plain(kThumbFloatDivide);
  if (operation < 2 || operation == 5 || operation == 6) return Plain(kThumbFloatMultiplyAdd);
  return Plain(operation == 7 && Bits(first, 0, 4) == 1 && Bits(second, 6, 2) == 3
                   ? kThumbFloatDivide
                   : kThumbFloatAdd);
}

static struct ThumbInstruction DecodeHelium(uint16_t first, uint16_t second) {
  const int is_memory = !Bits(first, 9, 1) && Bits(second, 9, 3) == 7;
  const int has_offsets = !Bits(second, 12, 1) && (first & 0x0120) == 0;  // in a vector
  const int element = Bits(second, 7, 2);                                 // logarithm of its bytes
  struct ThumbInstruction result = Plain(kThumbVectorGather);
  if ((first & 0xFFBF) == 0xFE31 && (second & 0x1FFF) == 0x0F4D)
    return Plain(kThumbSimple);  // VPST
  if (!is_memory) return Plain(kThumbVector);
  if (has_offsets && !Bits(first, 7, 1)) return Plain(kThumbFloatMovePair);
  if (!has_offsets && (first & 0xFF00) != 0xFD00) return Plain(kThumbVectorMemory);
  result.count = has_offsets && element < 2 ? 16 >> element : 4;
  return result;
}

struct ThumbInstruction DecodeThumb(uint16_t first, uint16_t second) {
  const int is_float = (second & 0x0E00) == 0x0A00 || (second & 0x0F00) == 0x0900;
  if (first < 0xE800) return Decode16(first);
  // In the coprocessor space, only encodings that begin with 111x1111 belong to Helium.
  if ((first & 0xEC00) == 0xEC00) {
    return is_float && (first & 0xEF00) != 0xEF00 ? DecodeFloat(first, second)
                                                  : DecodeHelium(first, second);
  }
  if ((first & 0xFE00) == 0xE800) return DecodeDoubleOrMultiple(first, second);
  if ((first & 0xF800) == 0xF000 && Bits(second, 15, 1)) return DecodeBranch32(first, second);
  if ((first & 0xFE00) == 0xF800) return DecodeSingle32(first, second);
  if ((first & 0xFF00) == 0xFB00) return DecodeMultiply(first, second);
  return Plain(kThumbSimple);
}
