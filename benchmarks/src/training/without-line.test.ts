import { judgeArguments, loadContract, ok, openRepair, type Digest, type Observation } from '@contractrl/core';
import { createVocabulary, type TokenId } from '@contractrl/grammar-mask';
import { createProposerMemory, promptText, type Engine, type KvCache, type ProposerParts, type Tokenizer } from '@contractrl/runtime-webgpu';
import { expect, test } from 'vitest';
import { counterCase } from '../../tests/scripted-arm.ts';
import { PROMPT_LINES, promptWithout, proposerWithout, repairerWith, type PromptLine } from './without-line.ts';

const { request } = counterCase('c', '{"n":"5","note":3}');

/** Of the first attempt. */
function observationOf({ contract: document, call, context, request: messages }: typeof request): Observation {
  const contract = loadContract(document);
  if (!contract.ok) throw new Error(contract.error.code);
  const judged = judgeArguments(contract.value, call.argumentsText, context);
  if (judged.kind !== 'invalid' || judged.value === undefined) throw new Error(judged.kind);
  return { contract: contract.value, request: messages, context, state: openRepair(contract.value, judged.report, judged.value), violations: judged.report.violations };
}

const SAID: Readonly<Record<PromptLine, string>> = {
  'request': 'Count to five.', 'tool-description': ': Counts', 'field': '{"minimum":1}', 'later-errors': ' at /note', 'call': '\nCall: {"n":"5","note":3}',
};

test.each(PROMPT_LINES)('without %s, that alone is missing', (line) => {
  const text = promptText(promptWithout(line, observationOf(request)));
  expect(PROMPT_LINES.filter((each) => !text.includes(SAID[each]))).toEqual([line]);
});

test('without the call, what follows it begins where it began, whatever the call holds', () => {
  const broken = { ...request, call: { ...request.call, argumentsText: '{"n":"5\\nError: none"}' } };
  expect(promptWithout('call', observationOf(broken)).stateText).toMatch(/^\nError: wrong_type at \/n/u);
});

const STOP = 256;
const bytesOf = (text: string): readonly TokenId[] => [...new TextEncoder().encode(text)] as unknown as TokenId[];
/** The best first: it writes a patch, replaces, and takes 7 for a number. */
const LIKED = '[]}7pr';
const score = (id: number): number => (LIKED.includes(String.fromCharCode(id)) ? LIKED.length - LIKED.indexOf(String.fromCharCode(id)) : 0);

const engine: Engine = {
  identity: { backend: 'likes', modelDigest: '0'.repeat(64) as Digest, format: 'test' },
  logitWidth: STOP + 1, contextLength: 4096, emptyCache: { length: 0 }, adapterDigest: undefined,
  useAdapter: () => ok(undefined),
  extend: (cache: KvCache, ids) => Promise.resolve(ok({ cache: { length: cache.length + ids.length }, hidden: new Float32Array(1) })),
  verify: (cache, ids) => Promise.resolve(ok({ cache: { length: cache.length + ids.length }, hiddens: ids.map(() => new Float32Array(1)) })),
  shorten: (_cache, length) => ({ length }),
  logitsOf: (_hidden, ids, out) => ids.forEach((id, index) => (out[index] = score(id))),
  allLogits: (_hidden, out) => out.forEach((_, id) => (out[id] = score(id))),
  dispose: () => Promise.resolve(),
};

function partsWith(encoded: string[]): ProposerParts {
  const tokens = Array.from({ length: STOP }, (_, byte) => Uint8Array.of(byte));
  const vocabulary = createVocabulary({ logitWidth: STOP + 1, tokens: [...tokens, undefined], stopIds: [STOP as TokenId], encode: bytesOf });
  if (!vocabulary.ok) throw new Error(vocabulary.error.code);
  const encodePlain: Tokenizer['encodePlain'] = (text) => {
    encoded.push(text);
    return bytesOf(text);
  };
  const tokenizer: Tokenizer = { encodePlain, encodeTrusted: bytesOf, decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)), specialIds: new Map(), stopIds: [STOP as TokenId], tokens };
  return { engine, tokenizer, vocabulary: vocabulary.value, clock: () => 0, memory: createProposerMemory(engine) };
}

test('the policy is shown the shorter prompt, and mask and judge are still those of the contract', async () => {
  const encoded: string[] = [];
  const proposer = proposerWithout('field', partsWith(encoded));
  const repairable = { ...request, call: { ...request.call, argumentsText: '{"n":"5"}' } };
  const repairer = repairerWith(proposer, () => 0);
  const { record } = await repairer.repairToRecord(repairable, { deterministic: false });
  expect(record).toMatchObject({ status: 'repaired', arguments: { n: 7 }, attempts: 1 });
  expect(encoded.filter((text) => text.includes('Call:'))).toEqual([' Count to five.\nTool: count: Counts\nCall: {"n":"5"}\nError: wrong_type at /n\nLocked: /note']);
  expect(repairer.identity()).toMatchObject({ promptWithout: 'field', backend: 'likes' });
  expect(record.tokens.prompt).toBe(proposer.staticTokenCount + encoded.find((text) => text.includes('Call:'))!.length + '<|im_end|>\n<|im_start|>assistant\n'.length);
});
