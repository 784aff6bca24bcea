import { expect, test } from 'vitest';
import * as entry from '../src/index.ts';
import * as node from '../src/node/index.ts';
import * as onnx from '../src/onnx/index.ts';
import * as server from '../src/server/index.ts';
import * as web from '../src/web/index.ts';
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
      "createMaskMemory",
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
      "sayingOf",
      "scoreOutputs",
      "walkTrail",
      "weightReport",
      "writeAdapter",
    ]
  `);
});

test('in Node and on pages, these', () => {
  expect(Object.keys(node).sort()).toEqual([
    'ADAPTER_FILES', 'BASE_MODEL', 'DEFAULT_ADAPTER_FOLDER', 'DEFAULT_ADAPTER_NAME', 'NODE_ENGINE_WISHES', 'SHIPPED_ADAPTER_NAMES', 'adapterFolder', 'cacheDirectory', 'checkNodeEngines', 'fetchModel', 'formatEngineReason',
    'formatModelFailure', 'formatUnknownAdapter', 'modelPath', 'openRepairer', 'openRuntime', 'readAdapterFolder', 'verifyModel',
  ]);
  expect(Object.keys(web).sort()).toEqual([
    'CONFORMANCE_CHECKS', 'DEFAULT_ADAPTER', 'DEFAULT_ADAPTER_NAME', 'DEFAULT_MODEL', 'SHIPPED_ADAPTERS', 'SHIPPED_ADAPTER_NAMES', 'TOLERANCE', 'WORKER_LOST', 'checkInWorker', 'connectLastingRepairer',
    'connectRepairer', 'createCheckModel', 'fetchPinned', 'formatEngineReason', 'openWebEngine', 'probeInWorker', 'selfTest', 'serveEngineChecks', 'serveRepairWorker',
  ]);
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
