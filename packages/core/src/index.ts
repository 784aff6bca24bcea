export type { Brand } from './brand.ts';
export {
  cloneJson, deepFreeze, hasLoneSurrogate, isJsonArray, isJsonObject, jsonEqual, readJsonValue, setMember,
  type JsonArray, type JsonObject, type JsonPrimitive, type JsonTypeName, type JsonValue, type JsonValueIssue,
} from './json/value.ts';
export { parseJson, type JsonIssue, type JsonLimits } from './json/parse.ts';
export { canonicalText } from './json/canonical.ts';
export { digestOf, digestOfText, type Digest } from './json/digest.ts';
export { assertNever, err, ok, type Result } from './result.ts';
export {
  childOf, FORBIDDEN_TOKENS, formatPointer, isPrefix, lastTokenOf, parentOf, parsePointer, resolvePointer, ROOT_POINTER, tokensOf,
  type JsonPointer, type PointerIssue,
} from './pointer.ts';
export {
  OPERATION_KINDS, parsePatch, readPatch,
  type Operation, type OperationKind, type Patch, type PatchAdmissionCode, type PatchFault, type PatchIssue, type PatchSyntaxCode,
} from './patch/operation.ts';
export { admitOperation } from './patch/admit.ts';
export { applyPatch } from './patch/apply.ts';
export type { ValidationReport, Violation, ViolationCode } from './validate/violation.ts';
export { checkCrossField, type CheckFunction, type CrossFieldCheck, type CrossFieldIssue } from './validate/cross-field.ts';
export { validateArguments, validateValue, type Validation } from './validate/validate.ts';
export { createJudge, type Judge } from './validate/judge.ts';
export type { SchemaIssue } from './validate/schema-check.ts';
export {
  CONTRACT_VERSION, DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, loadContract, MAX_ATTEMPT_BUDGET, MAX_OPERATION_BUDGET,
  type Contract, type ContractDocument, type ContractIssue, type LoadOptions, type SchemaDialect, type ToolDefinition,
} from './contract/contract.ts';
export type { SchemaAnnotation } from './contract/annotations.ts';
export { schemaAt, type SchemaSite } from './contract/schema-at.ts';
export {
  evaluateGates,
  type GateDecision, type GateDocument, type GateFunction, type GateHost, type GateInput, type GateOperand, type GateReason, type GateRule,
} from './repair/gate.ts';
export { openRepair, type HistoryEntry, type InvalidReport, type RepairState } from './repair/state.ts';
export { refuse, STILL_INVALID, transition } from './repair/transition.ts';
export { ABSTAIN_CODES, readAbstention, RUNTIME_ABSTAIN_CODES, type AbstainCode } from './repair/abstention.ts';
export { contractOfAccepted, judgeArguments, judgeWithHost, type AcceptedCall, type Judgement } from './repair/accepted-call.ts';
export type { TimeBound } from './execute/bounded.ts';
export type { AbortSignalLike, MaskTrail, Observation, Proposal, ProposalCost, Proposer, ProposerFailure } from './repair/proposer.ts';
export type { RepairOutcome } from './repair/outcome.ts';
export type { Origin } from './provenance/origin.ts';
export type { WrittenValue } from './provenance/written.ts';
export { ACCEPTED } from './repair/close.ts';
export { NO_POLICY } from './repair/no-policy.ts';
export { repairCall, type RepairOptions } from './repair/repair.ts';
export { findReading, type Reading, type ReadingKind, type ReadingStep } from './reading/find-reading.ts';
export { closestTool } from './reading/closest-tool.ts';
export { deterministicPatch, type DeterministicPatch, type DeterministicRule } from './deterministic/deterministic-patch.ts';
export type { ChatMessage, FailedCall, RepairRequest } from './intake/request.ts';
export type { IntakeIssue } from './intake/fields.ts';
export { recordText, type AbstentionEntry, type AttemptEntry, type ClosedEntry, type DeterministicEntry, type LedgerEntry, type OpenedEntry, type OpenedReading, type RecordedText, type ResourcesEntry, type TokenCounts } from './ledger/entry.ts';
export { freeze, isFrozenRepair, type FrozenRepair, type RepairTrace } from './ledger/freeze.ts';
