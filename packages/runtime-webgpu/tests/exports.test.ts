import { expect, test } from 'vitest';
import * as entry from '../src/index.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toMatchInlineSnapshot(`
    [
      "DEFAULT_MAX_ANSWER_TOKENS",
      "GRAPH_VERSION",
      "LINEAR_NAMES",
      "PROMPT_VERSION",
      "buildGraph",
      "buildPrompt",
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
      "generate",
      "graphCacheKey",
      "logSumExp",
      "promptSegments",
      "promptText",
      "readAdapter",
      "readGguf",
    ]
  `);
});
