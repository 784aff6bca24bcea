import { expect, test } from 'vitest';
import { CALLS } from '../../tests/calls.ts';
import { normalText, tightName } from '../audit/normal-form.ts';
import { wholeText } from '../request.ts';
import { splitCalls } from './split.ts';

const namesOf = (calls: typeof CALLS): ReadonlySet<string> => new Set(calls.map(({ contract }) => tightName(contract.document.tool.name)));
const requestsOf = (calls: typeof CALLS): ReadonlySet<string> => new Set(calls.map(({ request }) => normalText(wholeText(request))));

test('training and validation share no tool and no request', () => {
  for (const seed of [1, 2, 3]) {
    const { train, validation, leftOut } = splitCalls(CALLS, 0.3, seed);
    expect(validation.length).toBeGreaterThan(0);
    expect([...namesOf(train)].filter((name) => namesOf(validation).has(name))).toEqual([]);
    expect([...requestsOf(train)].filter((request) => requestsOf(validation).has(request))).toEqual([]);
    expect(train.length + validation.length + leftOut).toBe(CALLS.length);
  }
});

test('a request that two tools of different sides answer goes to validation alone', () => {
  const [first, ...others] = CALLS;
  const shared = others.map((call) => ({ ...call, request: first!.request }));
  const { train, validation, leftOut } = splitCalls([first!, ...shared], 0.5, 1);
  expect([train.length, validation.length > 0, leftOut > 0]).toEqual([0, true, true]);
});

test('a share outside 0 to 1 is the caller’s mistake', () => {
  expect(() => splitCalls(CALLS, 2, 1)).toThrow(RangeError);
});
