/** The patch language as a grammar for llama.cpp and all that read its format. Reference: llama.cpp, grammars/README.md. */
import { print, type Dialect } from './print.ts';
import type { Abilities, Rules } from './rules.ts';

/** llama.cpp refuses repetitions beyond 2,000. */
export const GBNF: Abilities = { maxRepeat: 2000, recursiveTokens: true };

const DIALECT: Dialect = { class: (set) => `[${set}]`, rule: (name) => name };

export function toGbnf({ root, rules }: Rules): string {
  return [{ name: 'root', body: root }, ...rules].map(({ name, body }) => `${name} ::= ${print(body, DIALECT)}\n`).join('');
}
