import { expect, test } from 'vitest';
import * as entry from '../src/index.ts';
import * as onnx from '../src/onnx/index.ts';
import * as server from '../src/server/index.ts';
import * as webllm from '../src/webllm/index.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toMatchInlineSnapshot(`
    [
      "CALIBRATION_FILE",
      "CALIBRATION_VERSION",
      "DEFAULT_MAX_ANSWER_TOKENS",
      "DEFAULT_PROVENANCE_SHARE",
      "DEFAULT_RULES",
      "FEATURES",
      "GRAPH_VERSION",
      "LINEAR_NAMES",
      "MaskCursor",
      "PROMPT_VERSION",
      "approximateContract",
      "buildGraph",
      "buildPrompt",
      "confidenceOf",
      "createDrafter",
      "createMaskedProposer",
      "createOrtEngine",
      "createPrefixCache",
      "createProposerMemory",
      "createRandom",
      "createRepairer",
      "createSampler",
      "createScriptedEngine",
      "createTokenizer",
      "describeEngine",
      "encodePrompt",
      "enumerateOutputs",
      "featuresOf",
      "generate",
      "graphCacheKey",
      "logSumExp",
      "mergeAdapter",
      "openBatch",
      "promptSegments",
      "promptText",
      "publicSources",
      "readAdapter",
      "readCalibration",
      "readGguf",
      "readPatchSignals",
      "replayMask",
      "samplingOfAttempt",
      "scoreOutputs",
      "weightReport",
      "writeAdapter",
    ]
  `);
});

test('of the engines outside, these', () => {
  expect(Object.keys(server).sort()).toEqual(['BYTE_VOCABULARY', 'DEFAULT_SERVER_TIMEOUT_MS', 'SERVER_DIALECTS', 'checkText', 'createServerProposer', 'createServerRepairer', 'notCarriedBy']);
  expect(Object.keys(webllm).sort()).toEqual(['MASKED_LOGIT', 'connectWebLlm', 'createWebLlmProposer', 'fetchWebLlmFiles', 'openWebLlm', 'readWebLlmModel', 'serveWebLlm']);
});

test('for graphs of one’s own, these', () => {
  expect(Object.keys(onnx).sort()).toEqual([
    'EMBEDDING', 'GraphBuilder', 'HEAD', 'LINEAR_GROUPS', 'MS_DOMAIN', 'OUTPUT_NORM', 'ROPE_DIVISORS', 'concatBytes', 'dequantise', 'encodeModel', 'groupMatrices', 'groupShape', 'linearShape',
    'readSafetensors', 'rotaryTables', 'vectorTensor', 'writeSafetensors',
  ]);
});
