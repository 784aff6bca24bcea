/** Expressions as the two grammar formats share them: quoted text, classes, `|`, parentheses, and `?`, `*`, `+`, `{m,n}` behind an item. */
import { assertNever } from '@contractrl/core';
import type { Expression } from './expression.ts';

export interface Dialect {
  /** A character class, given what stands between its brackets. */
  class(set: string): string;
  rule(name: string): string;
}

export function print(expression: Expression, dialect: Dialect): string {
  return show(expression, 'open', dialect);
}

/** `place`: what binds the result closer than the operators inside it needs parentheses around it. */
function show(expression: Expression, place: 'open' | 'in-sequence' | 'repeated', dialect: Dialect): string {
  switch (expression.kind) {
    // JSON's escapes are valid in both formats for text without control characters, and JSON text holds none
    case 'text': return JSON.stringify(expression.text);
    case 'class': return dialect.class(expression.set);
    case 'rule': return dialect.rule(expression.name);
    case 'sequence': return group(expression.parts.filter(isNotEmpty).map((part) => show(part, 'in-sequence', dialect)).join(' ') || '""', place === 'repeated');
    case 'choice': return group(expression.branches.map((branch) => show(branch, 'open', dialect)).join(' | '), place !== 'open');
    case 'repeat': return expression.max === 0 ? '""' : show(expression.item, 'repeated', dialect) + countOf(expression);
    default: return assertNever(expression);
  }
}

function isNotEmpty(part: Expression): boolean {
  return !(part.kind === 'text' && part.text === '') && !(part.kind === 'repeat' && part.max === 0);
}

function group(shown: string, isNeeded: boolean): string {
  return isNeeded ? `(${shown})` : shown;
}

function countOf({ min, max }: Extract<Expression, { readonly kind: 'repeat' }>): string {
  if (max === undefined) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  return min === 0 && max === 1 ? '?' : `{${min},${max}}`;
}
