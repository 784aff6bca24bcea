/** The same contract for other engines: a subpath of its own, so that a page that only masks does not carry it. */
export { EXPORT_FORMATS, exportGrammar, type ExportedGrammar, type ExportFormat, type ExportIssue } from './export-grammar.ts';
export { describeOmission, type Omission, type OmissionCode } from './omission.ts';
export type { ExportOptions } from './patch-forms.ts';
