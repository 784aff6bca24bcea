/**
 * A pattern's program one code point at a time, for the mask, which must know what can still follow a beginning; the judge never needs it.
 */
import { classRanges } from './class-ranges.ts';
import { classTest, isWordUnit, type Assertion, type Instruction, type Pattern } from './pattern.ts';

/** Instructions that wait for what follows, ascending. */
export type PatternThreads = readonly number[];

export interface PatternMachine {
  /** Sets of code points (first, last, first, last, …) that the pattern tells apart: those inside the same sets step alike. */
  readonly ranges: readonly (readonly number[])[];
  /** Whether it matters if the code point before is a word character. */
  readonly looksBehind: boolean;
  readonly start: PatternThreads | 'matched';
  /** What follows `next`, undefined being the end of the text; `previous` is undefined at its start. `matched` stays so whatever follows. */
  step(threads: PatternThreads, previous: number | undefined, next: number | undefined): PatternThreads | 'matched';
}

const machines = new WeakMap<Pattern, PatternMachine>();

/** The machine of a compiled pattern; asking again gives the same one. */
export function machineOf(pattern: Pattern): PatternMachine {
  const machine = machines.get(pattern) ?? build(pattern.program);
  machines.set(pattern, machine);
  return machine;
}

function build(program: readonly Instruction[]): PatternMachine {
  const ranges = new Map<string | number, readonly number[]>();
  for (const instruction of program) {
    if (instruction.kind !== 'consume' || ranges.has(instruction.source)) continue;
    const { source, accepts } = instruction;
    ranges.set(source, typeof source === 'number' ? [source, source] : classRanges(source, accepts));
  }
  const looksBehind = program.some((instruction) => instruction.kind === 'assertion' && instruction.source.startsWith('\\'));
  if (looksBehind) ranges.set('\\w', classRanges('\\w', classTest('\\w')));

  const seenIn = new Uint32Array(program.length);
  let generation = 0;
  /** Follows splits, and assertions that hold; those decided `later` wait with the instructions that consume. */
  const close = (starts: readonly number[], decide: (assertion: Assertion) => boolean | 'later'): PatternThreads | 'matched' => {
    generation += 1;
    const waiting: number[] = [];
    const stack = [...starts];
    while (stack.length > 0) {
      const index = stack.pop() as number;
      if (seenIn[index] === generation) continue;
      seenIn[index] = generation;
      const instruction = program[index] as Instruction;
      if (instruction.kind === 'match') return 'matched';
      if (instruction.kind === 'split') {
        stack.push(instruction.second, instruction.first);
        continue;
      }
      const decision = instruction.kind === 'consume' ? 'later' : decide(instruction.source);
      if (decision === 'later') waiting.push(index);
      else if (decision) stack.push(index + 1);
    }
    return waiting.sort((left, right) => left - right);
  };

  return {
    ranges: [...ranges.values()],
    looksBehind,
    start: close([0], (assertion) => (assertion === '^' ? true : 'later')),
    step(threads, previous, next) {
      const isBoundary = isWordCodePoint(previous) !== isWordCodePoint(next);
      const holdsHere: Readonly<Record<Assertion, boolean>> = { '^': previous === undefined, $: next === undefined, '\\b': isBoundary, '\\B': !isBoundary };
      const ready = threads.some((index) => program[index]?.kind === 'assertion') ? close(threads, (assertion) => holdsHere[assertion]) : threads;
      if (ready === 'matched') return ready;
      if (next === undefined) return [];
      const after = ready.filter((index) => (program[index] as Extract<Instruction, { kind: 'consume' }>).accepts(next)).map((index) => index + 1);
      // the match may also begin here
      return close([...after, 0], (assertion) => (assertion === '^' ? false : 'later'));
    },
  };
}

function isWordCodePoint(codePoint: number | undefined): boolean {
  return codePoint !== undefined && codePoint < 0x80 && isWordUnit(String.fromCharCode(codePoint));
}
