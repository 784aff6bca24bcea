/** The rule of release at the loop: the real mask, a scripted model, and what becomes of right and wrong patches. */
import { describe, expect, test } from 'vitest';
import { RUNTIME_ABSTAIN_CODES, type Digest, type RepairOutcome, type RepairRequest } from '@contractrl/core';
import { checkRepair } from '@contractrl/core/ledger';
import { createVocabulary } from '@contractrl/grammar-mask';
import { PROMPT_VERSION } from '../prompt.ts';
import { createProposerMemory, type ProposerOptions } from '../proposer.ts';
import { createRepairer, type Repairer } from '../repairer.ts';
import { createScriptedEngine } from '../scripted/engine.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { CALIBRATION_VERSION, FEATURES, type Calibration, type Features } from './calibration.ts';
import type { Release } from './release.ts';
import { readPatchSignals } from './signals.ts';

const PIECES = Array.from({ length: 255 }, (_, index) => String.fromCharCode(index + 1));
const encode = (text: string): readonly number[] => Array.from(text, (character) => Math.min(character.charCodeAt(0), 255));
const tokenizer: Tokenizer = { encodePlain: encode, encodeTrusted: encode, decode: (ids) => ids.map((id) => PIECES[id - 1] ?? '').join(''), specialIds: new Map(), stopIds: [0], tokens: [] };
const made = createVocabulary({ logitWidth: 256, tokens: [undefined, ...PIECES.map((_, index) => Uint8Array.of(index + 1))], stopIds: [0], encode });
if (!made.ok) throw new Error(made.error.code);
const vocabulary = made.value;

const request: RepairRequest = {
  id: 'r', request: [{ role: 'user', content: 'What is the weather in Rome?' }],
  contract: {
    tool: { name: 'weather', description: 'Weather of a city.', parameters: { type: 'object', required: ['city'], additionalProperties: false, properties: { city: { type: 'string' } } } },
    allowedOperations: ['add'], operationBudget: 1, attemptBudget: 1, immutablePaths: [], crossField: [], gates: [],
  },
  toolNames: ['weather'], call: { name: 'weather', argumentsText: '{}' }, finishReason: undefined, context: {},
};
const addCity = (city: string): string => JSON.stringify([{ op: 'add', path: '/city', value: city }]);
const [RIGHT, WRONG, ABSTENTION] = [addCity('Rome'), addCity('Paris'), '{"abstain":"not-in-state"}'];
const ADAPTER = 'a'.repeat(64) as Digest;

/** Values from nowhere are held to be wrong, all others right. */
const WEIGHTS: Features = { ...(Object.fromEntries(FEATURES.map((feature) => [feature, 0])) as Features), unfounded: -4 };
const CALIBRATION: Calibration = {
  version: CALIBRATION_VERSION, adapterDigest: ADAPTER, promptVersion: PROMPT_VERSION, map: { kind: 'logistic', intercept: 2, weights: WEIGHTS }, threshold: 0.5, report: {},
};
const RELEASE: Release = { calibration: CALIBRATION, threshold: CALIBRATION.threshold };
const SURE = 1 / (1 + Math.exp(-2));
const UNSURE = 1 / (1 + Math.exp(2));

/** A policy that says one thing, ten times as likely as anything else. */
function saying(text: string, release?: Release, adapter: Digest | null = ADAPTER): Repairer {
  const engine = createScriptedEngine({
    logitWidth: 256,
    script(history, out) {
      const written = history.map((id) => PIECES[id - 1] ?? '').join('').split('assistant\n').at(-1)!;
      const next = text.startsWith(written) ? encode(text.slice(written.length))[0] ?? 0 : 0;
      out[next] = 8;
    },
  });
  engine.useAdapter(adapter === null ? undefined : { rank: 1, alpha: 1, digest: adapter, layers: [] });
  return createRepairer({ engine, tokenizer, vocabulary, clock: () => 0, memory: createProposerMemory(engine), ...(release === undefined ? {} : { release }) });
}

const repair = (text: string, release?: Release, options?: ProposerOptions): Promise<RepairOutcome> => saying(text, release).repair(request, options);

test('a patch that throws a misnamed member away is withheld, however sure it is', async () => {
  const tool = { name: 'create_cluster', description: 'Create a cluster.', parameters: { type: 'object', properties: { backup: { type: 'string' }, size: { type: 'integer' } }, additionalProperties: false } };
  const cluster = (member: string): RepairRequest => ({
    ...request, request: [{ role: 'user', content: 'A cluster with continuous backup.' }], toolNames: [tool.name], call: { name: tool.name, argumentsText: JSON.stringify({ [member]: 'continuous' }) },
    contract: { ...request.contract, tool, allowedOperations: ['remove', 'move'] },
  });
  const removed = (member: string): Promise<RepairOutcome> => saying(JSON.stringify([{ op: 'remove', path: `/${member}` }]), RELEASE).repair(cluster(member));
  expect(await removed('backupType')).toMatchObject({ status: 'abstained', reason: 'abstain/low-confidence', confidence: expect.closeTo(SURE, 10) as number });
  expect(await removed('verbose')).toMatchObject({ status: 'repaired', arguments: {} });
});

describe('below the threshold', () => {
  test('a wrong patch ends as an abstention of its own, and the call is as it was', async () => {
    const outcome = await repair(WRONG, RELEASE);
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/low-confidence', attempts: 0, operations: 0, confidence: expect.closeTo(UNSURE, 10) as number });
    expect('arguments' in outcome).toBe(false);
    expect(outcome.frozen.opened.call.arguments.text).toBe('{}');
    // without the rule it would have been sent
    expect(await repair(WRONG)).toMatchObject({ status: 'repaired', arguments: { city: 'Paris' } });
  });

  test('the record says what was withheld and why, and is judged again to the same end', async () => {
    const { frozen } = await repair(WRONG, RELEASE);
    const [signals] = frozen.resources!.signals!;
    expect(signals).toMatchObject({ release: { confidence: expect.closeTo(UNSURE, 10) as number, threshold: 0.5, isReleased: false } });
    expect(readPatchSignals(signals!)).toMatchObject({ sources: { none: 1 } });
    const [entry] = frozen.proposals;
    expect(tokenizer.decode(entry!.maskTrail!.ids)).toBe(WRONG);
    expect(entry).toMatchObject({ kind: 'abstention', verdict: 'abstain/low-confidence' });
    expect(await checkRepair(frozen)).toMatchObject({ ok: true, value: { checked: ['structure', 'texts', 'judgement'] } });
  });

  test('the reason is one that no policy can write', async () => {
    expect(RUNTIME_ABSTAIN_CODES).toContain('low-confidence');
    const outcome = await repair('{"abstain":"low-confidence"}');
    expect('reason' in outcome && outcome.reason).not.toBe('abstain/low-confidence');
  });
});

describe('above it', () => {
  test('a right patch is sent as without the rule, with its calibrated confidence', async () => {
    const [released, plain] = [await repair(RIGHT, RELEASE), await repair(RIGHT)];
    expect(released).toMatchObject({ status: 'repaired', arguments: { city: 'Rome' }, confidence: expect.closeTo(SURE, 10) as number });
    expect(plain).toMatchObject({ status: 'repaired', arguments: { city: 'Rome' } });
    expect(released.frozen.proposals).toEqual(plain.frozen.proposals);
    // the masked probability of the answer
    expect(plain.confidence).toBeCloseTo(Math.exp(readPatchSignals(plain.frozen.resources!.signals![0]!)!.sequenceLogProbability), 10);
  });

  test('an abstention of the policy keeps its own reason and probability', async () => {
    const [released, plain] = [await repair(ABSTENTION, RELEASE), await repair(ABSTENTION)];
    expect(released).toMatchObject({ status: 'abstained', reason: 'abstain/not-in-state', confidence: plain.confidence });
    expect(readPatchSignals(released.frozen.resources!.signals![0]!)).toBeUndefined();
  });
});

describe('the rule', () => {
  test('is the repairer’s, and options come before it', async () => {
    expect(await repair(WRONG, RELEASE, { release: 'off' })).toMatchObject({ status: 'repaired', arguments: { city: 'Paris' } });
    expect(await repair(WRONG, undefined, { release: RELEASE })).toMatchObject({ reason: 'abstain/low-confidence' });
    expect(await repair(WRONG, { ...RELEASE, threshold: 0.05 })).toMatchObject({ status: 'repaired', confidence: expect.closeTo(UNSURE, 10) as number });
    expect(await repair(RIGHT, { ...RELEASE, threshold: 1 })).toMatchObject({ reason: 'abstain/low-confidence' });
  });

  test('holds for exact search too', async () => {
    const listed = { ...request, contract: { ...request.contract, tool: { ...request.contract.tool, parameters: { ...request.contract.tool.parameters, properties: { city: { enum: ['Rome', 'Oslo'] } } } } } };
    const strict: Release = { calibration: { ...CALIBRATION, map: { kind: 'logistic', intercept: 2, weights: { ...WEIGHTS, abstention: -1 } } }, threshold: 0.9 };
    const exact = await saying(RIGHT, strict).repair(listed, { search: 'exact' });
    expect(exact).toMatchObject({ status: 'repaired', arguments: { city: 'Rome' } });
    const decoded = await saying(RIGHT, strict).repair(listed);
    // the same first decision, the same chance to abstain, the same confidence
    expect(exact.confidence).toBeCloseTo(decoded.confidence!, 6);
    expect(await saying(RIGHT, { ...strict, threshold: 1 }).repair(listed, { search: 'exact' })).toMatchObject({ reason: 'abstain/low-confidence' });
  });

  test('is part of the policy’s name, by the digest of its calibration', () => {
    const named = saying(RIGHT, RELEASE).identity()['release'] as { readonly calibration: string };
    expect(named).toEqual({ calibration: expect.stringMatching(/^[0-9a-f]{64}$/u) as string, threshold: 0.5 });
    const other = saying(RIGHT, { ...RELEASE, calibration: { ...CALIBRATION, threshold: 0.4 } }).identity()['release'];
    expect(other).not.toEqual(named);
    expect('release' in saying(RIGHT).identity()).toBe(false);
    expect('release' in saying(RIGHT, RELEASE).identity({ release: 'off' })).toBe(false);
  });

  test.each([
    { what: 'another adapter', adapter: 'b'.repeat(64) as Digest, calibration: CALIBRATION, reason: 'calibration/other-adapter' },
    { what: 'the bare model', adapter: null, calibration: CALIBRATION, reason: 'calibration/other-adapter' },
    { what: 'another prompt', adapter: ADAPTER, calibration: { ...CALIBRATION, promptVersion: 'other' }, reason: 'calibration/other-prompt' },
  ])('of $what repairs nothing', async ({ adapter, calibration, reason }) => {
    const repairer = saying(RIGHT, { calibration, threshold: 0.1 }, adapter);
    expect(await repairer.repair(request)).toMatchObject({ status: 'failed', reason, message: expect.stringContaining('calibration') as string });
  });

  test.each([-0.1, 1.1, Number.NaN])('with a threshold of %s is a caller’s mistake', (threshold) => {
    expect(() => saying(RIGHT).identity({ release: { calibration: CALIBRATION, threshold } })).toThrow(RangeError);
  });
});
