import { expect, test } from 'vitest';
import * as execute from '../src/execute/index.ts';
import * as entry from '../src/index.ts';
import * as messages from '../src/issue.ts';
import * as ledger from '../src/ledger/index.ts';
import * as records from '../src/records.ts';
import * as schema from '../src/schema.ts';
import * as sources from '../src/sources.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toMatchInlineSnapshot(`
    [
      "ABSTAIN_CODES",
      "ACCEPTED",
      "BUGCASE_PATCH_CODES",
      "CONTRACT_VERSION",
      "DEFAULT_ATTEMPT_BUDGET",
      "DEFAULT_JSON_LIMITS",
      "DEFAULT_MAX_DEPTH",
      "DEFAULT_OPERATION_BUDGET",
      "ENTRY_FIELDS",
      "FORBIDDEN_TOKENS",
      "Gold",
      "LEDGER_VERSION",
      "MAX_ATTEMPT_BUDGET",
      "MAX_OPERATION_BUDGET",
      "NO_POLICY",
      "OPERATION_KINDS",
      "RECORDED_TEXT_LIMIT",
      "ROOT_POINTER",
      "RUNTIME_ABSTAIN_CODES",
      "STILL_INVALID",
      "VIOLATION_CODES",
      "admitOperation",
      "applyAdmitted",
      "applyPatch",
      "arrayIndexOf",
      "assertNever",
      "canonicalText",
      "changedLeaves",
      "checkCrossField",
      "childOf",
      "cloneJson",
      "closestTool",
      "compilePattern",
      "contractOfAccepted",
      "countCollateral",
      "createJudge",
      "declaredNames",
      "deepFreeze",
      "deterministicPatch",
      "digestOf",
      "digestOfText",
      "err",
      "evaluateGates",
      "findReading",
      "formatPointer",
      "freeze",
      "hasLoneSurrogate",
      "isFrozenRepair",
      "isJsonArray",
      "isJsonObject",
      "isPrefix",
      "jsonEqual",
      "jsonTypeOf",
      "judgeArguments",
      "judgeWithHost",
      "lastTokenOf",
      "listSubSchemas",
      "loadContract",
      "memberOf",
      "ok",
      "openRepair",
      "parentOf",
      "parseJson",
      "parsePatch",
      "parsePointer",
      "readAbstention",
      "readCrossFieldChecks",
      "readGates",
      "readJsonValue",
      "readPatch",
      "recordText",
      "referenceTarget",
      "refuse",
      "repairCall",
      "resolvePointer",
      "schemaAt",
      "scoreFrozen",
      "setAnnotationsApart",
      "setMember",
      "tokensOf",
      "transition",
      "validateArguments",
      "validateValue",
    ]
  `);
});

test('the subpath of schemas has these', () => {
  expect(Object.keys(schema).sort()).toMatchInlineSnapshot(`
    [
      "MAX_FREE_DEPTH",
      "MAX_OPEN_NAME_LENGTH",
      "MAX_REFERENCE_DEPTH",
      "NO_HISTORY",
      "OperationOffers",
      "actionMask",
      "closedValues",
      "contentAutomaton",
      "hasPathBelow",
      "hasTexts",
      "historyAfter",
      "livePlacesOf",
      "nodeCloser",
      "originFinder",
      "placesIn",
      "readSchemaNode",
      "readSchemaPlace",
      "rescale",
      "schemaPlacesIn",
      "surveySchema",
      "toDecimal",
    ]
  `);
});

test('the public names of the ledger entry are these and no others', () => {
  expect(Object.keys(ledger).sort()).toMatchInlineSnapshot(`
    [
      "GENESIS",
      "MIN_PRIVACY_KEY_BYTES",
      "appendEntry",
      "appendRepair",
      "checkRepair",
      "createLedger",
      "formatHead",
      "formatRow",
      "formatStorageFailure",
      "headAfter",
      "headAfterRows",
      "headBytes",
      "hideContents",
      "isHidden",
      "memoryStorage",
      "readHead",
      "readLedgerText",
      "readRowText",
      "repairsIn",
      "replayTrace",
      "scanLedger",
      "signHead",
      "verifyRows",
      "verifySignedHead",
    ]
  `);
});

test('the subpath of tool definitions and calls has these', () => {
  expect(Object.keys(sources).sort()).toMatchInlineSnapshot(`
    [
      "callFromAnthropic",
      "callFromMcp",
      "callFromOpenAi",
      "checkFromStandardSchema",
      "contractFromAnthropic",
      "contractFromJsonSchema",
      "contractFromMcp",
      "contractFromOpenAi",
      "contractFromStandardSchema",
      "formatSource",
      "inheritContract",
      "loadContracts",
      "toAnthropic",
      "toMcp",
      "toOpenAi",
    ]
  `);
});

test('the subpaths of execution, messages and records have these', () => {
  expect([execute, messages, records].map((names) => Object.keys(names).sort())).toEqual([
    ['createExecutor', 'idempotencyKeyOf'], ['formatIssue'], ['failedRecord', 'readRepairRequest', 'readRequestText', 'toRepairRecord'],
  ]);
});
