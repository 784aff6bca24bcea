/**
 * The texts of a finite automaton over code points as rules. Without cycles each state is one rule, which is exact and easy to read; with
 * cycles rules call themselves, or, for a format that forbids it, states are eliminated and what led through them is written as repetitions.
 * The latter is no choice for llama.cpp: it follows all readings of a text at once, and eliminated states leave many.
 * Reference: S. C. Kleene's construction as in Hopcroft and Ullman, Introduction to Automata Theory, §3.2.2 (state elimination).
 */
import { choice, EMPTY, optional, repeat, sequence, type Expression } from './expression.ts';

/** First and last code point. */
export type Range = readonly [number, number];

export interface Automaton {
  readonly start: number;
  isAccepting(state: number): boolean;
  stepsFrom(state: number): readonly { readonly symbol: Range; readonly target: number }[];
  /** The rule for one character of these ranges. */
  show(ranges: readonly Range[]): Expression;
}

/** Names an expression; equal ones get one name. */
export type Define = (body: Expression) => Expression;

/** One rule a state: as many rules, and Lark's terminals are nested as deep. */
const MAX_STATES = 1024;
/** Elimination can square the number of transitions. */
const MAX_CYCLIC_STATES = 256;
const MAX_LABELS = 2048;

/** Undefined where there is a cycle or there are too many states. Equal states become one rule. */
export function writeAcyclic(automaton: Automaton, define: Define): Expression | undefined {
  /** Undefined for states that are still being written: to meet one again is a cycle. */
  const written = new Map<number, Expression | undefined>();
  const write = (state: number): Expression | undefined => {
    if (written.has(state)) return written.get(state);
    if (written.size >= MAX_STATES) return undefined;
    written.set(state, undefined);
    const branches = new Map<string, { readonly ranges: Range[]; readonly rest: Expression }>();
    for (const { symbol, target } of automaton.stepsFrom(state)) {
      const rest = write(target);
      if (rest === undefined) return undefined;
      const key = JSON.stringify(rest);
      const branch = branches.get(key);
      if (branch === undefined) branches.set(key, { ranges: [symbol], rest });
      else branch.ranges.push(symbol);
    }
    const body = choice([...branches.values()].map(({ ranges, rest }) => sequence(automaton.show(ranges), rest)));
    const rule = branches.size === 0 ? EMPTY : define(automaton.isAccepting(state) ? optional(body) : body);
    written.set(state, rule);
    return rule;
  };
  return write(automaton.start);
}

/** Rules that call themselves, one a state, for a format that has them. Undefined where there are too many. `reserve` names a rule before its body is known. */
export function writeRecursive(automaton: Automaton, reserve: () => { readonly rule: Expression; readonly fill: (body: Expression) => void }): Expression | undefined {
  const written = new Map<number, Expression>();
  const write = (state: number): Expression | undefined => {
    const known = written.get(state);
    if (known !== undefined) return known;
    if (written.size >= MAX_STATES) return undefined;
    const { rule, fill } = reserve();
    written.set(state, rule);
    const symbols = new Map<number, Range[]>();
    for (const { symbol, target } of automaton.stepsFrom(state)) symbols.set(target, [...(symbols.get(target) ?? []), symbol]);
    const branches: Expression[] = [];
    for (const [target, ranges] of symbols) {
      const rest = write(target);
      if (rest === undefined) return undefined;
      branches.push(sequence(automaton.show(ranges), rest));
    }
    fill(branches.length === 0 ? EMPTY : automaton.isAccepting(state) ? optional(choice(branches)) : choice(branches));
    return rule;
  };
  return write(automaton.start);
}

const BEFORE = -1;
const BEHIND = -2;

/** Undefined where there are too many states or the labels grow too many. */
export function writeCyclic(automaton: Automaton, define: Define): Expression | undefined {
  /** What leads from one state to another, by source and target. */
  const labels = new Map<number, Map<number, Expression>>([[BEFORE, new Map([[automaton.start, EMPTY]])]]);
  const states = [automaton.start];
  for (const state of states) {
    if (states.length > MAX_CYCLIC_STATES) return undefined;
    const ranges = new Map<number, Range[]>();
    for (const { symbol, target } of automaton.stepsFrom(state)) ranges.set(target, [...(ranges.get(target) ?? []), symbol]);
    labels.set(state, new Map([...ranges].map(([target, symbols]) => [target, automaton.show(symbols)])));
    if (automaton.isAccepting(state)) labels.get(state)?.set(BEHIND, EMPTY);
    for (const target of ranges.keys()) if (!states.includes(target)) states.push(target);
  }
  let labelCount = 0;
  for (const left = new Set(states); left.size > 0;) {
    const state = cheapest(left, labels);
    left.delete(state);
    const { loop, out } = takeOut(state, labels);
    for (const targets of labels.values()) {
      const into = targets.get(state);
      if (into === undefined) continue;
      targets.delete(state);
      const through = define(loop === undefined ? into : sequence(into, repeat(loop, 0)));
      for (const [target, label] of out) {
        const beside = targets.get(target);
        const joined = sequence(through, label);
        targets.set(target, define(beside === undefined ? joined : choice([beside, joined])));
        if ((labelCount += 1) > MAX_LABELS) return undefined;
      }
    }
  }
  return labels.get(BEFORE)?.get(BEHIND);
}

/** The state through which the fewest pairs lead. */
function cheapest(left: ReadonlySet<number>, labels: ReadonlyMap<number, ReadonlyMap<number, Expression>>): number {
  const costOf = (state: number): number => [...labels.values()].filter((targets) => targets.has(state)).length * (labels.get(state)?.size ?? 0);
  return [...left].map((state) => [costOf(state), state] as const).reduce((least, next) => (next[0] < least[0] ? next : least))[1];
}

function takeOut(state: number, labels: Map<number, Map<number, Expression>>): { readonly loop: Expression | undefined; readonly out: ReadonlyMap<number, Expression> } {
  const out = labels.get(state) ?? new Map<number, Expression>();
  const loop = out.get(state);
  out.delete(state);
  labels.delete(state);
  return { loop, out };
}
