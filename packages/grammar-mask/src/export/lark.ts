/**
 * The patch language as a Lark grammar for llguidance (vLLM, SGLang and llama.cpp can run it). Its lexer is greedy and never looks back, so
 * the whole first operation is one terminal: no terminal is then the beginning of another that is allowed at the same place.
 * Reference: llguidance, docs/syntax.md.
 */
import { print } from './print.ts';
import type { Abilities, Rules } from './rules.ts';

/** Terminals are regular expressions. Repetitions beyond this cost llguidance time, and no answer is so long. */
export const LARK: Abilities = { maxRepeat: 4096, recursiveTokens: false };

export function toLark({ root, rules }: Rules): string {
  const tokens = new Set(rules.flatMap(({ kind, name }) => (kind === 'token' ? [name] : [])));
  // terminals are written in capitals, rules in lower case
  const nameOf = (name: string): string => (tokens.has(name) ? name.toUpperCase() : name);
  const dialect = { class: (set: string) => `/[${set}]/`, rule: nameOf };
  return `%llguidance {}\n${[{ name: 'start', body: root }, ...rules].map(({ name, body }) => `${nameOf(name)}: ${print(body, dialect)}\n`).join('')}`;
}
