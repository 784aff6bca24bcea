/** Expressions over characters that GBNF and Lark both have, and the makers of them. */

export type Expression =
  | { readonly kind: 'text'; readonly text: string }
  /** What stands between the brackets of a character class, in the escapes both formats share: `\\`, `\xhh`, `\uhhhh`, `\Uhhhhhhhh`. */
  | { readonly kind: 'class'; readonly set: string }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'choice'; readonly branches: readonly Expression[] }
  /** `max` undefined: without end. */
  | { readonly kind: 'repeat'; readonly item: Expression; readonly min: number; readonly max: number | undefined }
  | { readonly kind: 'rule'; readonly name: string };

export const text = (content: string): Expression => ({ kind: 'text', text: content });
export const EMPTY: Expression = text('');
export const characters = (set: string): Expression => ({ kind: 'class', set });
export const rule = (name: string): Expression => ({ kind: 'rule', name });
export const choice = (branches: readonly Expression[]): Expression => (branches.length === 1 ? branches[0] as Expression : { kind: 'choice', branches });
export const repeat = (item: Expression, min: number, max?: number): Expression => ({ kind: 'repeat', item, min, max });
export const optional = (item: Expression): Expression => repeat(item, 0, 1);

/** Without its empty parts; a single part alone. */
export function sequence(...parts: readonly Expression[]): Expression {
  const written = parts.filter((part) => part !== EMPTY);
  return written.length === 1 ? written[0] as Expression : { kind: 'sequence', parts: written };
}

/** The expressions directly inside one. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'sequence': return expression.parts;
    case 'choice': return expression.branches;
    case 'repeat': return [expression.item];
    default: return [];
  }
}
