import { describe, expect, test } from 'vitest';
import type { JsonPrimitive } from '@contractrl/core';
import { sayingOf } from './said.ts';

describe('a value that the request says in another form', () => {
  test.each<readonly [value: JsonPrimitive, said: string]>([
    ['2023-04-22', 'A bus to Atlanta on April 22nd 2023?'], ['2023-04-22', 'on April 22, 2023'], ['2023-03-08', 'on the 8th of March 2023'], ['2023-03-07', 'on 7th of this march 2023'],
    ['2022-06-01', 'starting from 1st June 2022'], ['2021-12-31', 'to December 31st, 2021.'], ['31.12.2021', 'to Dec. 31, 2021'], ['12/31/2021', 'on 31/12/2021'], ['2023-10-01', 'today is 2023.10.1'],
    ['April 3, 2024', 'on 2024-04-03'], ['2023-05-15T09:00', 'on 15 May 2023, at 9 am'], ['2023-05-15 09:00:00', 'at 09:00 on May 15, 2023'],
    ['19:30', 'at 7:30 pm'], ['08:00', 'at 8 in the morning'], ['14:00', 'at 2 in the afternoon'], ['7:00 PM', 'at 19:00'], ['12:00', 'around noon'], ['00:00', 'at midnight'], ['00:15', 'at 12:15 a.m.'],
    [5, 'the next five years'], [2, 'for Two passengers'], [25, 'twenty-five chairs'], [305, 'three hundred and five'], [1200, 'twelve hundred'], [2_000_042, 'two million forty two'], [1000, 'a thousand'],
    [24, 'two dozen eggs'], [12, 'a dozen'], [50_000_000, 'a payout of 50 million USD'], [1_200_000, '1.2 million'], [0, 'zero'], [2, 'two five'], [5, 'two five'], [10, 'twenty ten'],
    ['sneaker', 'a pair of sneakers.'], ['Living room', 'popular for living rooms?'], ['box', 'three boxes'], ['city', 'of all cities'],
  ])('%j of "%s"', (value, said) => {
    expect(sayingOf(value, ['Hello.', said])).toBe('spoken');
  });

  test.each<readonly [value: JsonPrimitive, said: string]>([
    ['2023-04-22', 'on April 22nd'], ['2023-04-22', 'on April 21st, 2023'], ['2023-13-01', 'on 2023-13-01x'], ['2023-04-22T10:00', 'on April 22, 2023'], ['19:30', 'at 7:30'], ['19:30', 'at 7:30 am'], ['25:00', 'at 1 am'], ['07:30', 'at 7:30 pm'], ['07:30', 'at 7:30:00 pm'], ['02:15', 'at 2:15 in the afternoon'],
    [5, 'for fiveteen'], [7, 'two five'], [500, '50 millions'], [50, '50 million'], [30, 'the next month'], [4, 'at 4'], ['5', 'five'], [true, 'true'], [null, 'null'],
    ['sneaker', 'a pair of sneakersX'], ['s', 'yes'], ['', 'says nothing'], ['Oslo', 'in Bergen'], [' Oslo', 'in Oslo'], ['Oslo,', 'in Oslo'], ['Berkeley, California', 'in Bergen'],
  ])('%j of "%s": it does not', (value, said) => {
    expect(sayingOf(value, [said])).toBeUndefined();
  });

  test.each<readonly [value: string, said: string]>([
    ['Paris, France', 'a trip to Paris'], ['New York, NY', 'concerts in new york.'], ['Empower Alliance', 'the Empowerment Alliance'], ['the big red house', 'a house, the red one'],
  ])('%j of "%s": half of it', (value, said) => {
    expect(sayingOf(value, [said])).toBe('completed');
  });

  test('in any of the messages, a text in all of them together', () => {
    expect(sayingOf(3, ['How many?', 'three'])).toBe('spoken');
    expect(sayingOf('Paris near Lyon in France', ['to Paris', 'no, Lyon in the south'])).toBe('completed');
    expect(sayingOf('Paris, France', [])).toBeUndefined();
  });
});
