/** What an export leaves out. Every omission widens the exported language; none makes it narrower than the mask's. */
import type { JsonPointer } from '@contractrl/core';

export type OmissionCode = keyof typeof OMISSIONS;

export interface Omission {
  readonly code: OmissionCode;
  /** The first place it concerns; absent where it concerns the whole patch. */
  readonly pointer?: JsonPointer;
}

const OMISSIONS = {
  'second-operation-document': 'operations after the first may name any pointer and write any value: the document that the first one leaves is not known',
  'goal-directed-closing': 'the patch may end before the call is valid',
  'no-op-exclusion': 'an operation may change nothing, or undo an earlier one',
  'token-budget': 'nothing keeps the answer within a number of tokens',
  'transfer-targets': 'too many pairs of source and target: a move or copy may name any target',
  spelling: 'white space, member order, escapes and the spelling of numbers are free',
  'character-spelling': 'characters that this vocabulary can only escape may also be written raw, and others escaped',
  'number-spelling': 'numbers may have more than 15 significant digits',
  'number-bounds': 'the bounds would need too many rules',
  'string-content': 'pattern and format would need too many rules',
  'string-format': 'a format means what the server makes of it',
  'unique-items': 'elements may be equal',
  contains: 'how many elements match is not counted',
  'string-length': 'the length is beyond what the format can count',
  'item-count': 'the number of elements is beyond what the format can count',
} as const;

export class Omissions {
  readonly #found = new Map<string, Omission>();

  add(code: OmissionCode, pointer?: JsonPointer): void {
    this.#found.set(`${code} ${pointer ?? ''}`, pointer === undefined ? { code } : { code, pointer });
  }

  list(): readonly Omission[] {
    return [...this.#found.values()];
  }
}

/** One line for a person. */
export function describeOmission({ code, pointer }: Omission): string {
  return `${code}${pointer === undefined ? '' : ` at ${pointer}`}: ${OMISSIONS[code]}`;
}
