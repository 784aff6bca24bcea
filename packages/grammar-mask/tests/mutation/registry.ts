/** Stands in for `vitest` in the suite that mutants have to survive: tests are kept, to be run one at a time and as often as needed. */
import { expect } from 'vitest';

type Body = (...row: readonly never[]) => unknown;

export interface KeptTest {
  readonly name: string;
  readonly run: () => unknown;
}

export const kept: KeptTest[] = [];
const groups: string[] = [];

const ignore = (): void => undefined;
const spread = (row: unknown): readonly never[] => (Array.isArray(row) ? row as readonly unknown[] : [row]) as readonly never[];

function describe(title: string, body: Body): void {
  groups.push(title);
  body();
  groups.pop();
}
describe.each = (table: readonly unknown[]) => (title: string, body: Body): void => {
  table.forEach((row, index) => { describe(`${title} ${index}`, () => body(...spread(row))); });
};
describe.skipIf = (isSkipped: boolean): typeof describe | typeof ignore => (isSkipped ? ignore : describe);

function test(title: string, body: Body): void {
  kept.push({ name: [...groups, title].join(' > '), run: () => body() });
}
test.each = (table: readonly unknown[]) => (title: string, body: Body): void => {
  table.forEach((row, index) => { test(`${title} ${index}`, () => body(...spread(row))); });
};
test.skipIf = (isSkipped: boolean): typeof test | typeof ignore => (isSkipped ? ignore : test);

export { describe, expect, test, ignore as afterAll };
