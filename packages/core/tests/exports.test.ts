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
      "CONTRACT_VERSION",
      "DEFAULT_ATTEMPT_BUDGET",
      "DEFAULT_OPERATION_BUDGET",
      "FORBIDDEN_TOKENS",
      "MAX_ATTEMPT_BUDGET",
      "MAX_OPERATION_BUDGET",
      "NO_POLICY",
      "OPERATION_KINDS",
      "ROOT_POINTER",
      "RUNTIME_ABSTAIN_CODES",
      "STILL_INVALID",
      "admitOperation",
      "applyPatch",
      "assertNever",
      "canonicalText",
      "checkCrossField",
      "childOf",
      "cloneJson",
      "closestTool",
      "contractOfAccepted",
      "createJudge",
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
      "judgeArguments",
      "judgeWithHost",
      "lastTokenOf",
      "loadContract",
      "ok",
      "openRepair",
      "parentOf",
      "parseJson",
      "parsePatch",
      "parsePointer",
      "readAbstention",
      "readJsonValue",
      "readPatch",
      "recordText",
      "refuse",
      "repairCall",
      "resolvePointer",
      "schemaAt",
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
      "applyAdmitted",
      "closedValues",
      "compilePattern",
      "contentAutomaton",
      "hasPathBelow",
      "hasTexts",
      "historyAfter",
      "listSubSchemas",
      "livePlacesOf",
      "nodeCloser",
      "originFinder",
      "originsOfPatch",
      "placesIn",
      "publicSources",
      "readSchemaNode",
      "readSchemaPlace",
      "referenceTarget",
      "rescale",
      "schemaPlacesIn",
      "setAnnotationsApart",
      "surveySchema",
      "toDecimal",
    ]
  `);
});

test('the public names of the ledger entry are these and no others', () => {
  expect(Object.keys(ledger).sort()).toMatchInlineSnapshot(`
    [
      "ENTRY_FIELDS",
      "GENESIS",
      "Gold",
      "LEDGER_VERSION",
      "MIN_PRIVACY_KEY_BYTES",
      "RECORDED_TEXT_LIMIT",
      "appendEntry",
      "appendRepair",
      "changedLeaves",
      "checkRepair",
      "countCollateral",
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
      "scoreFrozen",
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
    ['createExecutor', 'idempotencyKeyOf'], ['BUGCASE_PATCH_CODES', 'VIOLATION_CODES', 'formatIssue', 'formatOrigin'], ['failedRecord', 'readRepairRequest', 'readRequestText', 'toRepairRecord'],
  ]);
});
