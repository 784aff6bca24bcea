/**
 * The contract outside this process: the patch language over one live document, for servers with a constraint engine of their own. What a
 * format cannot carry widens the language and is named, so whatever the mask admits the export admits, and the judge still decides.
 */
import { err, ok, type Contract, type RepairState, type Result } from '@contractrl/core';
import type { BindIssue } from '../mask/compile.ts';
import { GBNF, toGbnf } from './gbnf.ts';
import { toJsonSchema } from './json-schema.ts';
import { LARK, toLark } from './lark.ts';
import { Omissions, type Omission } from './omission.ts';
import { readPatchForms, type ExportOptions, type PatchForms } from './patch-forms.ts';
import { toRules } from './rules.ts';

export const EXPORT_FORMATS = ['gbnf', 'lark', 'json-schema'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportedGrammar {
  readonly text: string;
  readonly notCarried: readonly Omission[];
}

export type ExportIssue =
  | BindIssue
  /** The grammar would be too large for any engine to compile in reasonable time. */
  | { readonly code: 'export/too-large'; readonly length: number };

/** Characters; real contracts need some ten thousand. */
const MAX_TEXT_LENGTH = 4_194_304;

/** Writes the patches that `compileMask(contract, …).bind(state)` admits as a grammar text. O(document × schema). */
export function exportGrammar(contract: Contract, state: RepairState, format: ExportFormat, options: ExportOptions = {}): Result<ExportedGrammar, ExportIssue> {
  const { attemptsLeft, operationsLeft } = state;
  for (const [budget, value] of [['attemptsLeft', attemptsLeft], ['operationsLeft', operationsLeft]] as const) {
    if (!Number.isInteger(value) || value < 0) return err({ code: 'mask/bad-budget', budget, value });
  }
  const omissions = new Omissions();
  const text = write(readPatchForms(contract, state, options, omissions), format, omissions);
  return text.length > MAX_TEXT_LENGTH ? err({ code: 'export/too-large', length: text.length }) : ok({ text, notCarried: omissions.list() });
}

function write(forms: PatchForms, format: ExportFormat, omissions: Omissions): string {
  switch (format) {
    case 'gbnf': return toGbnf(toRules(forms, GBNF, omissions));
    case 'lark': return toLark(toRules(forms, LARK, omissions));
    case 'json-schema': return `${JSON.stringify(toJsonSchema(forms, omissions), null, 2)}\n`;
  }
}
