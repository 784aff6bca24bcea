/**
 * An interpreter of GBNF by direct definition, for tests: rules are read from the text as llama.cpp's README describes them, and matched by
 * carrying along every position a construct can end at. It knows nothing of how the export writes its rules.
 */

type Node =
  | { readonly kind: 'characters'; readonly test: (codePoint: number) => boolean }
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly branches: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly min: number; readonly max: number };

/** Whether a whole output belongs to the grammar. Throws on a text that is no GBNF or refers to a missing rule. */
export function readGbnf(grammar: string): (output: string) => boolean {
  const rules = new Map<string, Node>();
  for (const line of grammar.split('\n')) {
    const [, name, body] = /^([a-zA-Z0-9-]+) ::= (.*)$/.exec(line) ?? [];
    if (name !== undefined && body !== undefined) rules.set(name, new BodyReader(body).read());
    else if (line !== '') throw new SyntaxError(`no rule: ${line}`);
  }
  const ruleOf = (name: string): Node => {
    const rule = rules.get(name);
    if (rule === undefined) throw new SyntaxError(`no rule ${name}`);
    return rule;
  };
  return (output) => {
    const codePoints = [...output].map((character) => character.codePointAt(0) as number);
    const known = new Map<string, ReadonlySet<number>>();
    const endsOf = (node: Node, start: number): ReadonlySet<number> => {
      switch (node.kind) {
        case 'characters': return new Set(start < codePoints.length && node.test(codePoints[start] as number) ? [start + 1] : []);
        case 'reference': {
          const key = `${node.name} ${start}`;
          const ends = known.get(key) ?? endsOf(ruleOf(node.name), start);
          known.set(key, ends);
          return ends;
        }
        case 'sequence': return node.items.reduce<ReadonlySet<number>>((starts, item) => endsFrom(item, starts), new Set([start]));
        case 'choice': return new Set(node.branches.flatMap((branch) => [...endsOf(branch, start)]));
        case 'repeat': {
          const ends = new Set<number>(node.min === 0 ? [start] : []);
          let starts: ReadonlySet<number> = new Set([start]);
          for (let count = 1; count <= node.max && starts.size > 0; count += 1) {
            starts = endsFrom(node.item, starts);
            if (count >= node.min) {
              // without an end: what was reached before leads to nothing new
              if (node.max === Infinity) starts = new Set([...starts].filter((end) => !ends.has(end)));
              for (const end of starts) ends.add(end);
            }
          }
          return ends;
        }
      }
    };
    const endsFrom = (node: Node, starts: ReadonlySet<number>): ReadonlySet<number> => new Set([...starts].flatMap((start) => [...endsOf(node, start)]));
    return endsOf(ruleOf('root'), 0).has(codePoints.length);
  };
}

class BodyReader {
  readonly #text: readonly string[];
  #at = 0;

  constructor(body: string) {
    this.#text = [...body];
  }

  read(): Node {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new SyntaxError(`unexpected ${this.#text.slice(this.#at).join('')}`);
    return node;
  }

  #choice(): Node {
    const branches = [this.#sequence()];
    while (this.#take('|')) branches.push(this.#sequence());
    return { kind: 'choice', branches };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (;;) {
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === undefined || next === '|' || next === ')') return { kind: 'sequence', items };
      items.push(this.#repeated(this.#item()));
    }
  }

  #repeated(item: Node): Node {
    if (this.#take('?')) return { kind: 'repeat', item, min: 0, max: 1 };
    if (this.#take('*')) return { kind: 'repeat', item, min: 0, max: Infinity };
    if (this.#take('+')) return { kind: 'repeat', item, min: 1, max: Infinity };
    const [shown, min, comma, max] = /^\{([0-9]+)(,?)([0-9]*)\}/.exec(this.#text.slice(this.#at, this.#at + 20).join('')) ?? [];
    if (shown === undefined) return item;
    this.#at += shown.length;
    return { kind: 'repeat', item, min: Number(min), max: comma === '' ? Number(min) : max === '' ? Infinity : Number(max) };
  }

  #item(): Node {
    if (this.#take('(')) {
      const inner = this.#choice();
      if (!this.#take(')')) throw new SyntaxError('expected )');
      return inner;
    }
    if (this.#take('"')) {
      const items: Node[] = [];
      while (!this.#take('"')) {
        const expected = this.#character();
        items.push({ kind: 'characters', test: (codePoint) => codePoint === expected });
      }
      return { kind: 'sequence', items };
    }
    if (this.#take('[')) return this.#class();
    const [name] = /^[a-zA-Z0-9-]+/.exec(this.#text.slice(this.#at).join('')) ?? [];
    if (name === undefined) throw new SyntaxError(`unexpected ${String(this.#text[this.#at])}`);
    this.#at += name.length;
    return { kind: 'reference', name };
  }

  #class(): Node {
    const isNegated = this.#take('^');
    const ranges: [number, number][] = [];
    while (!this.#take(']')) {
      const from = this.#character();
      ranges.push([from, this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']' && this.#take('-') ? this.#character() : from]);
    }
    return { kind: 'characters', test: (codePoint) => ranges.some(([from, to]) => codePoint >= from && codePoint <= to) !== isNegated };
  }

  #character(): number {
    const next = this.#text[this.#at++];
    if (next === undefined) throw new SyntaxError('unexpected end');
    if (next !== '\\') return next.codePointAt(0) as number;
    const escape = this.#text[this.#at++] ?? '';
    const length = { x: 2, u: 4, U: 8 }[escape];
    if (length !== undefined) {
      const digits = this.#text.slice(this.#at, this.#at + length).join('');
      this.#at += length;
      return Number.parseInt(digits, 16);
    }
    const index = 'tnr\\"[]'.indexOf(escape);
    if (escape === '' || index === -1) throw new SyntaxError(`unknown escape ${escape}`);
    return ('\t\n\r\\"[]'[index] as string).charCodeAt(0);
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }

  #take(expected: string): boolean {
    if (this.#text[this.#at] !== expected) return false;
    this.#at += 1;
    return true;
  }
}
