/** Tuples of five integers, each stored once and known by its index: open addressing, no strings, no objects per entry. */

const FIRST_CAPACITY = 1024;

export class InternTable {
  /** Columns by index. Replaced when they grow. */
  a: Int32Array = new Int32Array(FIRST_CAPACITY);
  b: Int32Array = new Int32Array(FIRST_CAPACITY);
  c: Int32Array = new Int32Array(FIRST_CAPACITY);
  d: Int32Array = new Int32Array(FIRST_CAPACITY);
  rest: Int32Array = new Int32Array(FIRST_CAPACITY);
  #count = 0;
  /** Index + 1 by hash, 0 = free; twice as many slots as entries. */
  #slots = new Int32Array(FIRST_CAPACITY * 2);

  intern(a: number, b: number, c: number, d: number, rest: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash(a, b, c, d, rest) & mask;
    for (;;) {
      const index = (this.#slots[slot] as number) - 1;
      if (index < 0) break;
      if (this.a[index] === a && this.b[index] === b && this.c[index] === c && this.d[index] === d && this.rest[index] === rest) return index;
      slot = (slot + 1) & mask;
    }
    if (this.#count === this.a.length) {
      this.#grow();
      return this.intern(a, b, c, d, rest);
    }
    const index = this.#count;
    this.#count += 1;
    this.#slots[slot] = index + 1;
    this.a[index] = a;
    this.b[index] = b;
    this.c[index] = c;
    this.d[index] = d;
    this.rest[index] = rest;
    return index;
  }

  #grow(): void {
    const capacity = this.a.length * 2;
    const larger = (column: Int32Array): Int32Array => {
      const copy = new Int32Array(capacity);
      copy.set(column);
      return copy;
    };
    this.a = larger(this.a);
    this.b = larger(this.b);
    this.c = larger(this.c);
    this.d = larger(this.d);
    this.rest = larger(this.rest);
    this.#slots = new Int32Array(capacity * 2);
    const mask = this.#slots.length - 1;
    for (let index = 0; index < this.#count; index += 1) {
      let slot = hash(this.a[index] as number, this.b[index] as number, this.c[index] as number, this.d[index] as number, this.rest[index] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = index + 1;
    }
  }
}

/** Murmur's finaliser over the five integers. */
function hash(a: number, b: number, c: number, d: number, rest: number): number {
  let mixed = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13) ^ c, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16) ^ d, 0x27d4eb2f);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ rest, 0x165667b1);
  return mixed ^ (mixed >>> 16);
}
