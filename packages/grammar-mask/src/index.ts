export { applyBitmask } from './mask/apply.ts';
export {
  compileMask, compileValueMask,
  type BindIssue, type BindOptions, type Certificate, type CompiledMask, type CompiledValueMask, type CompileIssue, type CompileOptions,
} from './mask/compile.ts';
export type { MaskClause, Verdict } from './mask/explain.ts';
export type { MaskMatcher, MatcherFailure } from './mask/matcher.ts';
export { allowedIdsOf, bitmaskLength, isAllowed } from './mask/token-bitmask.ts';
export { DEFAULT_MAX_ITEMS, DEFAULT_MAX_STRING_LENGTH, type ValueLimits } from './grammar/value-grammar.ts';
export { createVocabulary, type TokenId, type Vocabulary, type VocabularyIssue, type VocabularyResult, type VocabularySource } from './vocab/vocabulary.ts';
