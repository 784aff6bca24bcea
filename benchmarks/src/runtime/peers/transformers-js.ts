/**
 * transformers.js with its structured output as a policy behind core's loop: the same weights, the same prompt ids, our exported JSON Schema, greedy.
 * Each answer begins with the whole prompt: the library keeps a cache of a conversation that goes on, not of what two prompts share. The packages are no
 * dependency of this project: the benchmark installs them into a folder, and only what is used of them is typed here.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { err, ok, type Observation, type Proposal, type Proposer, type ProposerFailure, type Result } from '@contractrl/core';
import { exportGrammar } from '@contractrl/grammar-mask/export';
import { buildPrompt, DEFAULT_MAX_ANSWER_TOKENS, encodePrompt, type Clock, type GgufModel, type Tokenizer } from '@contractrl/runtime-webgpu';
import { CONTEXT_LENGTH, reasonOf, type Peer } from './peer.ts';
import { writeTransformersModel } from './transformers-model.ts';

export const TRANSFORMERS_JS_VERSION = '4.3.0';

/** Opaque values of the packages. */
type LibraryTokenizer = object;
type LogitsProcessor = object;

interface Tensor {
  readonly data: BigInt64Array;
}

interface Model {
  generate(options: {
    readonly input_ids: Tensor; readonly attention_mask: Tensor; readonly max_new_tokens: number; readonly do_sample: false; readonly logits_processor: LogitsProcessor;
    readonly streamer: object;
  }): Promise<Tensor>;
  dispose(): Promise<unknown>;
}

interface Library {
  readonly env: { localModelPath: string; allowRemoteModels: boolean };
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly AutoTokenizer: { from_pretrained(name: string): Promise<LibraryTokenizer> };
  readonly AutoModelForCausalLM: {
    from_pretrained(name: string, options: { readonly dtype: 'fp32'; readonly device: 'cpu'; readonly session_options: { readonly intraOpNumThreads: number; readonly logSeverityLevel: number } }): Promise<Model>;
  };
  readonly BaseStreamer: new () => { put(tokens: unknown): void; end(): void };
}

interface StructuredOutput {
  readonly StructuredOutputProcessor: {
    new (tokenizer: LibraryTokenizer, format: { readonly type: 'json_schema'; readonly json_schema: unknown }): LogitsProcessor;
    warmup(tokenizer: LibraryTokenizer): void;
  };
}

export interface TransformersPeerOptions {
  /** The folder they were installed into. */
  readonly folder: string;
  /** With all its tensors. */
  readonly model: GgufModel;
  readonly tokenizer: Tokenizer;
  readonly threads: number;
  readonly clock: Clock;
}

const MODEL_NAME = 'policy';

/** Fails with the reason in words where the packages cannot be loaded on this machine. */
export async function openTransformersJs({ folder, model, tokenizer, threads, clock }: TransformersPeerOptions): Promise<Result<Peer, string>> {
  const models = await mkdtemp(join(tmpdir(), 'contractrl-peer-'));
  try {
    await writeTransformersModel(join(models, MODEL_NAME), model, CONTEXT_LENGTH);
    const load = (name: string, file: string): Promise<unknown> => import(pathToFileURL(join(folder, 'node_modules', '@huggingface', name, 'dist', file)).href);
    const library = await load('transformers', 'transformers.node.mjs') as Library;
    const { StructuredOutputProcessor } = await load('transformers-structured-output', 'index.js') as StructuredOutput;
    Object.assign(library.env, { localModelPath: models, allowRemoteModels: false });
    const theirTokenizer = await library.AutoTokenizer.from_pretrained(MODEL_NAME);
    const loaded = await library.AutoModelForCausalLM.from_pretrained(MODEL_NAME, { dtype: 'fp32', device: 'cpu', session_options: { intraOpNumThreads: threads, logSeverityLevel: 3 } });
    StructuredOutputProcessor.warmup(theirTokenizer);
    const newProcessor = (schema: unknown): LogitsProcessor => new StructuredOutputProcessor(theirTokenizer, { type: 'json_schema', json_schema: schema });
    return ok({
      proposer: {
        identity: { method: 'transformers.js', version: TRANSFORMERS_JS_VERSION, sampling: 'greedy' },
        propose: (observation) => propose(observation, { library, model: loaded, newProcessor, tokenizer, clock }),
      } satisfies Proposer,
      async dispose() {
        await loaded.dispose();
        await rm(models, { recursive: true, force: true });
      },
    });
  } catch (cause) {
    await rm(models, { recursive: true, force: true });
    return err(reasonOf(cause));
  }
}

/** Of our exported schemas, as far as it is read here. */
interface OperationSchema {
  readonly properties: Readonly<Record<string, { readonly const?: string; readonly enum?: readonly string[]; readonly type?: string }>>;
}

export interface PatchSchema {
  readonly anyOf?: readonly { readonly maxItems?: number; readonly prefixItems?: readonly Alternatives[]; readonly items?: Alternatives }[];
}

type Alternatives = OperationSchema | { readonly anyOf: readonly OperationSchema[] };

/**
 * A wider schema without alternatives. The library looks at those of `anyOf` only when the value is whole, so that under a union of operations the model
 * may write anything up to its last bracket; and it refuses `pattern`. What is left holds at every step: an array of objects with the operations and
 * places of the first one. The rest is the loop's judge to say, and abstention is not offered.
 */
export function withoutAlternatives(schema: PatchSchema): object {
  const patch = schema.anyOf?.find(({ maxItems }) => maxItems !== undefined);
  const first = patch?.prefixItems?.[0] ?? patch?.items;
  if (patch === undefined || first === undefined) return schema;
  const operations = 'anyOf' in first ? first.anyOf : [first];
  const named = (member: string): readonly string[] => [...new Set(operations.flatMap(({ properties: { [member]: value } }) => value?.enum ?? value?.const ?? []))];
  const types = operations.flatMap(({ properties: { value } }) => (value === undefined ? [] : [value.type]));
  const value = types.includes(undefined) ? {} : { type: [...new Set(types)] };
  const from = named('from');
  const properties = { op: { enum: named('op') }, path: { enum: named('path') }, ...(types.length === 0 ? {} : { value }), ...(from.length === 0 ? {} : { from: { enum: from } }) };
  return { type: 'array', items: { type: 'object', properties, required: ['op', 'path'], additionalProperties: false }, minItems: 1, maxItems: patch.maxItems };
}

interface Ready {
  readonly library: Library;
  readonly model: Model;
  newProcessor(schema: unknown): LogitsProcessor;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
}

async function propose(observation: Observation, { library, model, newProcessor, tokenizer, clock }: Ready): Promise<Result<Proposal, ProposerFailure>> {
  const startedAt = clock();
  const schema = exportGrammar(observation.contract, observation.state, 'json-schema');
  if (!schema.ok) return err({ code: schema.error.code, message: 'The contract has no JSON Schema.' });
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, CONTEXT_LENGTH - DEFAULT_MAX_ANSWER_TOKENS);
  if (!prompt.ok) return err({ code: prompt.error.code, message: 'The prompt is too long.' });
  const { ids } = prompt.value;
  const row = (values: BigInt64Array): Tensor => new library.Tensor('int64', values, [1, values.length]);
  // the first put is the prompt, before it is read; the second the first token
  const puts: number[] = [];
  const streamer = Object.assign(new library.BaseStreamer(), { put: () => { puts.push(clock()); }, end: () => undefined });
  let output: readonly number[];
  let askedAt: number;
  try {
    const processor = newProcessor(withoutAlternatives(JSON.parse(schema.value.text) as PatchSchema));
    askedAt = clock();
    const generated = await model.generate({
      input_ids: row(BigInt64Array.from(ids, BigInt)), attention_mask: row(new BigInt64Array(ids.length).fill(1n)), max_new_tokens: DEFAULT_MAX_ANSWER_TOKENS, do_sample: false,
      logits_processor: processor, streamer,
    });
    output = Array.from(generated.data, Number).slice(ids.length);
  } catch (cause) {
    return err({ code: 'engine/run-failed', message: `transformers.js failed: ${reasonOf(cause)}`, cause });
  }
  const endedAt = clock();
  const prefilledAt = puts[1] ?? endedAt;
  const isComplete = tokenizer.stopIds.includes(output.at(-1) ?? -1);
  const text = tokenizer.decode(isComplete ? output.slice(0, -1) : output);
  const cost = {
    promptTokenCount: ids.length, generatedTokenCount: output.length, forcedTokenCount: 0,
    maskMs: askedAt - startedAt, prefillMs: prefilledAt - askedAt, decodeMs: endedAt - prefilledAt,
  };
  return ok(isComplete ? { kind: 'text', text, confidence: undefined, maskDigest: undefined, cost } : { kind: 'incomplete', code: 'generate/token-budget', text, cost });
}
