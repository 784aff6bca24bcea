/**
 * The product's policy with one line of its prompt taken away, to see what that line is worth. The text is exchanged where it is turned into tokens: mask, judge, loop and
 * drafts are those of the whole observation, and the versioned prompt stays as it is. Neither a prompt version nor an adapter is made by this: the adapter was trained with the line.
 */
import { assertNever, repairCall, type Observation, type Proposer } from '@contractrl/core';
import { toRepairRecord } from '@contractrl/core/records';
import { buildPrompt, createMaskedProposer, promptSegments, type Prompt, type ProposerParts, type Repairer, type Tokenizer } from '@contractrl/runtime-webgpu';

/**
 * `request`: what the user said. `tool-description`: the tool has its name alone. `field`: what the schema says of a place at fault. `later-errors`: all violations but
 * the first. `call`: the call as it failed.
 */
export const PROMPT_LINES = ['request', 'tool-description', 'field', 'later-errors', 'call'] as const;
export type PromptLine = (typeof PROMPT_LINES)[number];

export function promptWithout(line: PromptLine, observation: Observation): Prompt {
  const { contract, violations: [first] } = observation;
  const prompt = buildPrompt(observation);
  switch (line) {
    // the field at fault may still show those of its literals that the request is near to
    case 'request': return { ...prompt, taskText: buildPrompt({ ...observation, request: [] }).taskText };
    case 'tool-description': return buildPrompt({ ...observation, contract: { ...contract, document: { ...contract.document, tool: { ...contract.document.tool, description: '' } } } });
    case 'field': return buildPrompt({ ...observation, contract: { ...contract, schema: {} } });
    case 'later-errors': return buildPrompt({ ...observation, violations: [first] });
    // JSON text has no line break, so the first line of the state is the call whatever it holds
    case 'call': return { ...prompt, stateText: prompt.stateText.slice(prompt.stateText.indexOf('\n', 1)) };
    default: return assertNever(line);
  }
}

export interface AblatedProposer extends Proposer {
  /** Of the last prompt, its static part; 0 where none was asked for. */
  readonly staticTokenCount: number;
}

/** As `createMaskedProposer`, and one line of the prompt is missing; for one repair at a time. */
export function proposerWithout(line: PromptLine, parts: ProposerParts): AblatedProposer {
  let [shown, instead] = ['', ''];
  let staticTokenCount = 0;
  const tokenizer: Tokenizer = {
    ...parts.tokenizer,
    // a method of a class is no member of its own
    decode: (ids) => parts.tokenizer.decode(ids),
    encodeTrusted: (text) => parts.tokenizer.encodeTrusted(text),
    encodePlain: (text) => parts.tokenizer.encodePlain(text === shown ? instead : text),
  };
  const whole = createMaskedProposer({ ...parts, tokenizer });
  return {
    get identity() {
      return { ...whole.identity, promptWithout: line };
    },
    get staticTokenCount() {
      return staticTokenCount;
    },
    propose(observation, signal) {
      const prompt = buildPrompt(observation);
      [shown, instead] = [untrustedText(prompt), untrustedText(promptWithout(line, observation))];
      staticTokenCount = parts.tokenizer.encodeTrusted(prompt.staticText).length;
      return whole.propose(observation, signal);
    },
  };
}

/** As much of a repairer as an arm needs. */
export function repairerWith(proposer: Proposer, clock: ProposerParts['clock']): Pick<Repairer, 'identity' | 'repairToRecord'> {
  return {
    identity: () => proposer.identity,
    async repairToRecord(request, { signal, deterministic } = {}) {
      const startedAt = clock();
      const outcome = await repairCall(request, proposer, { ...(signal === undefined ? {} : { signal }), ...(deterministic === undefined ? {} : { deterministic }) });
      return { outcome, record: toRepairRecord(outcome, { totalMs: clock() - startedAt }) };
    },
  };
}

/** Its one segment between the trusted ones. */
function untrustedText(prompt: Prompt): string {
  return promptSegments(prompt).filter(({ trusted }) => !trusted).map(({ text }) => text).join('');
}
