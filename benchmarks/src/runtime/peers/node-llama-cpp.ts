/**
 * node-llama-cpp as a policy behind core's loop: the same model file, the same prompt ids, our exported GBNF, greedy. It keeps its cache of the
 * prompt's beginning from one answer to the next, as it is meant to be used. The package is no dependency of this project: the benchmark installs
 * it into a folder, and only what is used of it is typed here.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { err, ok, type Observation, type Proposal, type ProposerFailure, type Result } from '@contractrl/core';
import { exportGrammar } from '@contractrl/grammar-mask/export';
import { buildPrompt, DEFAULT_MAX_ANSWER_TOKENS, encodePrompt, type Clock, type Tokenizer } from '@contractrl/runtime-webgpu';
import { CONTEXT_LENGTH, reasonOf, type Peer } from './peer.ts';

export const NODE_LLAMA_CPP_VERSION = '3.21.1';

/** Opaque values of the package. */
type Grammar = object;
type GrammarState = object;

interface Sequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: readonly number[], allowShift: boolean): Promise<void>;
  evaluate(tokens: readonly number[], options: { readonly temperature: number; readonly grammarEvaluationState: GrammarState; readonly yieldEogToken: boolean }): AsyncIterable<number>;
}

interface Model {
  createContext(options: { readonly contextSize: number; readonly threads: number; readonly sequences: number }): Promise<{ getSequence(): Sequence }>;
  isEogToken(token: number): boolean;
  detokenize(tokens: readonly number[]): string;
}

interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<Model>;
  createGrammar(options: { readonly grammar: string }): Promise<Grammar>;
  dispose(): Promise<void>;
}

interface Package {
  getLlama(options: { readonly gpu: false; readonly build: 'never'; readonly maxThreads: number; readonly logLevel: 'error' }): Promise<Llama>;
  readonly LlamaGrammarEvaluationState: new (options: { readonly model: Model; readonly grammar: Grammar }) => GrammarState;
}

export interface LlamaPeerOptions {
  /** The folder it was installed into. */
  readonly folder: string;
  readonly modelPath: string;
  readonly tokenizer: Tokenizer;
  readonly threads: number;
  readonly clock: Clock;
}

/** Fails with the reason in words where the package cannot be loaded on this machine. */
export async function openNodeLlamaCpp({ folder, modelPath, tokenizer, threads, clock }: LlamaPeerOptions): Promise<Result<Peer, string>> {
  try {
    const entry = pathToFileURL(join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js')).href;
    const { getLlama, LlamaGrammarEvaluationState } = await import(entry) as Package;
    const llama = await getLlama({ gpu: false, build: 'never', maxThreads: threads, logLevel: 'error' });
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({ contextSize: CONTEXT_LENGTH, threads, sequences: 1 });
    const sequence = context.getSequence();
    const newState = async (grammar: string): Promise<GrammarState> => new LlamaGrammarEvaluationState({ model, grammar: await llama.createGrammar({ grammar }) });
    return ok({
      proposer: {
        identity: { method: 'node-llama-cpp', version: NODE_LLAMA_CPP_VERSION, sampling: 'greedy' },
        propose: (observation) => propose(observation, { model, sequence, newState, tokenizer, clock }),
      },
      dispose: () => llama.dispose(),
    });
  } catch (cause) {
    return err(reasonOf(cause));
  }
}

interface Ready {
  readonly model: Model;
  readonly sequence: Sequence;
  newState(grammar: string): Promise<GrammarState>;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
}

async function propose(observation: Observation, { model, sequence, newState, tokenizer, clock }: Ready): Promise<Result<Proposal, ProposerFailure>> {
  const startedAt = clock();
  const grammar = exportGrammar(observation.contract, observation.state, 'gbnf');
  if (!grammar.ok) return err({ code: grammar.error.code, message: 'The contract has no grammar.' });
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, CONTEXT_LENGTH - DEFAULT_MAX_ANSWER_TOKENS);
  if (!prompt.ok) return err({ code: prompt.error.code, message: 'The prompt is too long.' });
  const { ids } = prompt.value;
  const answer: number[] = [];
  let isComplete = false;
  let firstAt: number | undefined;
  let askedAt: number;
  try {
    const grammarEvaluationState = await newState(grammar.value.text);
    askedAt = clock();
    // the last token is evaluated in any case: its logits are the first decision
    await sequence.adaptStateToTokens(ids.slice(0, -1), false);
    for await (const token of sequence.evaluate(ids.slice(sequence.nextTokenIndex), { temperature: 0, grammarEvaluationState, yieldEogToken: true })) {
      firstAt ??= clock();
      answer.push(token);
      isComplete = model.isEogToken(token);
      if (isComplete || answer.length === DEFAULT_MAX_ANSWER_TOKENS) break;
    }
  } catch (cause) {
    return err({ code: 'engine/run-failed', message: 'node-llama-cpp failed.', cause });
  }
  const endedAt = clock();
  const prefilledAt = firstAt ?? endedAt;
  const text = model.detokenize(isComplete ? answer.slice(0, -1) : answer);
  const cost = {
    promptTokenCount: ids.length, generatedTokenCount: answer.length, forcedTokenCount: 0,
    maskMs: askedAt - startedAt, prefillMs: prefilledAt - askedAt, decodeMs: endedAt - prefilledAt,
  };
  return ok(isComplete ? { kind: 'text', text, confidence: undefined, maskDigest: undefined, cost } : { kind: 'incomplete', code: 'generate/token-budget', text, cost });
}
