/** Whether one value is among those that a leaf of the mask's grammar accepts: for literals beside other keywords, and for values that are listed. */
import { isMultipleOf } from '../json/decimal.ts';
import type { NumberNode, StringNode } from './schema-node.ts';
import { hasContent } from './schema-text.ts';

export function numberFits(value: number, { integer, lower, upper, multiplesOf = [], notMultiplesOf = [], excluded = [] }: NumberNode): boolean {
  return (!integer || Number.isInteger(value))
    && (lower === undefined || (lower.exclusive ? value > lower.value : value >= lower.value))
    && (upper === undefined || (upper.exclusive ? value < upper.value : value <= upper.value))
    && multiplesOf.every((divisor) => isMultipleOf(value, divisor)) && !notMultiplesOf.some((divisor) => isMultipleOf(value, divisor)) && !excluded.includes(value);
}

export function textFits(text: string, { minLength, maxLength = Infinity, content }: StringNode): boolean {
  const length = [...text].length;
  return length >= minLength && length <= maxLength && (content === undefined || hasContent(text, content));
}
