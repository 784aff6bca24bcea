/** Stands in for `vitest` in the suite that mutants have to survive: tests are kept, to be run one at a time and as often as needed. */
import { expect } from 'vitest';

type Body = (...row: readonly never[]) => unknown;

export interface KeptTest {
  readonly name: string;
  readonly run: () => unknown;
}

export const kept: KeptTest[] = [];
const groups: string[] = [];
/** What the tests of each open group want done before them; done again before each, so that no mutant leaves anything there. */
const preparations: (readonly (() => unknown)[])[] = [[]];

const ignore = (): void => undefined;
const spread = (row: unknown): readonly never[] => (Array.isArray(row) ? row as readonly unknown[] : [row]) as readonly never[];

function describe(title: string, body: Body): void {
  groups.push(title);
  preparations.push([]);
  body();
  preparations.pop();
  groups.pop();
}
describe.each = (table: readonly unknown[]) => (title: string, body: Body): void => {
  table.forEach((row, index) => { describe(`${title} ${index}`, () => body(...spread(row))); });
};
describe.skipIf = (isSkipped: boolean): typeof describe | typeof ignore => (isSkipped ? ignore : describe);

function beforeAll(prepare: () => unknown): void {
  preparations.push([...preparations.pop()!, prepare]);
}

/** With options the body comes third, as in vitest; they say nothing here. */
function test(title: string, ...rest: readonly unknown[]): void {
  const body = rest.find((each) => typeof each === 'function') as Body;
  const wanted = preparations.flat();
  const run = async (): Promise<void> => {
    for (const prepare of wanted) await prepare();
    await body();
  };
  kept.push({ name: [...groups, title].join(' > '), run });
}
test.each = (table: readonly unknown[]) => (title: string, body: Body): void => {
  table.forEach((row, index) => { test(`${title} ${index}`, () => body(...spread(row))); });
};
test.skipIf = (isSkipped: boolean): typeof test | typeof ignore => (isSkipped ? ignore : test);

// what a snapshot holds belongs to a test file, of which there is none here: the other claims of such a test count
expect.extend({ toMatchSnapshot: () => ({ pass: true, message: () => '' }) });

export { beforeAll, describe, expect, test, ignore as afterAll };
