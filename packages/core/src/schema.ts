/**
 * What a mask needs of a contract: values as the schema describes them, places in a live document, the operations
 * worth offering there, and the values a request can be quoted for.
 */
export { applyAdmitted } from './patch/apply.ts';
export { compilePattern, type Pattern, type PatternIssue } from './validate/pattern.ts';
export { setAnnotationsApart, type AnnotatedSchema } from './contract/annotations.ts';
export { listSubSchemas, referenceTarget, type SubSchema } from './contract/sub-schemas.ts';
export type { TextAutomaton } from './validate/text-automaton.ts';
export { rescale, toDecimal, type Decimal } from './json/decimal.ts';
export { readSchemaNode, readSchemaPlace, schemaPlacesIn, surveySchema, type SchemaPlace, type SchemaSurvey } from './contract/schema.ts';
export type { ArrayNode, NumberNode, ObjectMember, OpenMembers, SchemaNode, StringNode, UnsupportedKeyword } from './contract/schema-node.ts';
export { MAX_FREE_DEPTH, MAX_OPEN_NAME_LENGTH, MAX_REFERENCE_DEPTH, type ReadOptions } from './contract/schema-reader.ts';
export { contentAutomaton, hasTexts, type TextContent } from './contract/schema-text.ts';
export type { NumberBound } from './contract/schema-keywords.ts';
export type { SchemaPoint } from './contract/schema-point.ts';
export { closedValues, nodeCloser, type ClosedValues, type NodePath } from './provenance/closed-values.ts';
export type { ProvenanceIssue } from './provenance/closed-texts.ts';
export { originFinder, type LeafOrigin } from './provenance/origin-finder.ts';
export type { LiteralOrigin, Origin, SpanOrigin } from './provenance/origin.ts';
export { originsOfPatch } from './provenance/written.ts';
export { publicSources, type Derivation, type ProvenanceSources, type SourcePlace, type SourceSpan } from './provenance/sources.ts';
export { actionMask, type ActionMask, type TransferTargets } from './action/action-mask.ts';
export { hasPathBelow, livePlacesOf, placesIn, type LivePlace, type PathSet } from './action/live-place.ts';
export { historyAfter, NO_HISTORY, type OutputHistory } from './action/churn.ts';
export { OperationOffers, type BannedOperation, type KnownPlaces, type OfferParts, type PatchRules, type ValueOperation } from './action/offers.ts';
