/**
 * Failed calls that no patch may mend. A value counts as unknown where provenance, as a repair computes it, finds it neither in the request nor in
 * the call nor in the schema: the policy could only invent it. Reference: CHECKLIST B2, B9; TRAINING § What goes wrong, 6.
 */
import {
  applyPatch, childOf, isPrefix, loadContract, resolvePointer, ROOT_POINTER, schemaAt, tokensOf, type ChatMessage, type Contract, type JsonObject, type JsonPointer, type JsonValue, type Operation,
} from '@contractrl/core';
import { originFinder } from '@contractrl/core/schema';
import { wordsOf } from '../data/sentence.ts';
import type { LegalCall } from '../legal-call.ts';
import type { Random } from '../random.ts';
import { textsOf, wholeText, withTexts, type Request } from '../request.ts';
import type { Corruption } from './corrupt.ts';
import type { UnrepairableFamily } from './family.ts';

/** The value is taken out of the request: its words made vague, the part that holds them left out, or the request cut before them. */
export function valueUnknown(call: LegalCall, corruptions: Iterable<Corruption>, random: Random): Corruption | undefined {
  for (const corruption of corruptions) {
    const value = writtenScalar(corruption);
    if (value === undefined || isInSchema(call.contract, corruption.candidate, corruption.pointer, value)) continue;
    for (const [form, request] of random.shuffled(requestsWithout(call, corruption.pointer, value, random))) {
      const unknown = { ...corruption, request };
      if (isUnknown(unknown, value)) return abstaining(unknown, 'value_unknown', form, 'not-in-state');
    }
  }
  return undefined;
}

/** The one place to write is locked. */
export function lockedField(corruptions: Iterable<Corruption>): Corruption | undefined {
  for (const corruption of corruptions) {
    const locked = lockedAt(corruption, corruption.pointer);
    if (locked?.isRepairable === false) return abstaining({ ...corruption, contract: locked.contract }, 'locked_field', corruption.form, 'locked');
  }
  return undefined;
}

/** The request asks for something that another tool does, and says nothing of what this call lacks. */
export function otherTool(call: LegalCall, corruptions: Iterable<Corruption>, another: LegalCall): Corruption | undefined {
  if (another.contract.document.tool.name === call.contract.document.tool.name || wholeText(another.request) === wholeText(call.request)) return undefined;
  for (const corruption of corruptions) {
    const value = writtenScalar(corruption);
    const other = { ...corruption, request: another.request };
    if (value !== undefined && !isInSchema(call.contract, corruption.candidate, corruption.pointer, value) && isUnknown(other, value)) {
      return abstaining(other, 'other_tool', corruption.form, 'unrepairable');
    }
  }
  return undefined;
}

/** The corruption under a contract that locks `pointer` too; undefined where that is no contract. */
export function lockedAt({ contract, candidate, answer }: Corruption, pointer: JsonPointer): { readonly contract: Contract; readonly isRepairable: boolean } | undefined {
  const loaded = loadContract({ ...contract.document, immutablePaths: [...contract.document.immutablePaths, pointer] });
  if (!loaded.ok || answer.kind === 'abstain') return undefined;
  return { contract: loaded.value, isRepairable: applyPatch(loaded.value, candidate, answer.patch, loaded.value.document.operationBudget).ok };
}

function abstaining(corruption: Corruption, family: UnrepairableFamily, form: string, code: 'not-in-state' | 'locked' | 'unrepairable'): Corruption {
  return { ...corruption, family, form, answer: { kind: 'abstain', code } };
}

/** What the canonical patch would write, where that is a text or a number: anything else may be guessed from what is usual. */
function writtenScalar({ answer }: Corruption): string | number | undefined {
  const [operation]: readonly (Operation | undefined)[] = answer.kind === 'patch' ? answer.patch : [];
  const value = operation !== undefined && 'value' in operation ? operation.value : undefined;
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

function isUnknown({ request, candidate }: Corruption, value: string | number): boolean {
  return originFinder({ texts: textsOf(request), candidate })(value).every(({ origin }) => 'kind' in origin && origin.kind === 'model');
}

const LISTING = ['enum', 'const', 'default', 'examples', 'anyOf', 'oneOf'];

/** The schema lists the value, or its prose names it. */
function isInSchema(contract: Contract, candidate: JsonValue, pointer: JsonPointer, value: string | number): boolean {
  const schemas: readonly JsonObject[] = schemaAt(contract, candidate, pointer).map(({ schema }) => schema);
  return schemas.some((schema) => LISTING.some((keyword) => Object.hasOwn(schema, keyword)) || JSON.stringify(schema).toLowerCase().includes(String(value).toLowerCase()));
}

const VAGUE_TEXTS = ['something', 'the usual one', 'the one we talked about', 'whatever fits', 'the same as last time', 'you know which one'] as const;
const VAGUE_NUMBERS = ['some', 'a few', 'the usual number of', 'as many as last time', 'a suitable number of', 'not too many'] as const;
const UNANSWERED = ['I do not know.', 'No idea, sorry.', 'I have to look that up first.', 'I will tell you later.', 'Does that matter?'] as const;
/** A shorter rest asks for nothing. */
const MIN_REST_LENGTH = 20;

/** Parts of a request that can be left out: up to a comma, the end of a sentence or of a line. */
const PARTS = /(?<=[.!?;,])\s+|\n+/u;

function requestsWithout(call: LegalCall, pointer: JsonPointer, value: string | number, random: Random): readonly (readonly [string, Request])[] {
  const { request } = call;
  const pattern = patternOf(wordsAt(call, pointer), request);
  const firstTurn = pattern === undefined ? -1 : textsOf(request).findIndex((text) => text.search(pattern) !== -1);
  if (pattern === undefined || firstTurn === -1) return [];
  const omitted = withTexts(request, (text) => (text.search(pattern) === -1 ? text : text.split(PARTS).filter((part) => part.search(pattern) === -1).join(' ')));
  const cut = withTexts(request, (text, turn) => (turn < firstTurn ? text : turn === firstTurn ? text.slice(0, text.search(pattern)).trimEnd() : ''));
  const rests: readonly (readonly [string, Request])[] = [['omitted', omitted], ['cut', cut]];
  const longEnough = rests.filter(([, rest]) => wholeText(rest).length >= MIN_REST_LENGTH && wholeText(rest).length < wholeText(request).length);
  const asked = longEnough.some(([form]) => form === 'omitted') ? [['not-told', withoutAnswer(omitted, pointer, random)] as const] : [];
  return [['vague', madeVague(request, pattern, value, random)], ...longEnough, ...asked];
}

/** How the request says the value at `pointer`; empty where it is not known to say it in words of its own. */
function wordsAt({ mentions, arguments: args }: LegalCall, pointer: JsonPointer): string {
  const value = resolvePointer(args, pointer);
  return mentions?.get(pointer) ?? (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
}

/** Finds the words where they stand for themselves: digits inside a longer number or name are not this number. */
function patternOf(words: string, request: Request): RegExp | undefined {
  // the pattern is slow where the words are not there at all
  if (words === '' || !wholeText(request).toLowerCase().includes(words.toLowerCase())) return undefined;
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')}(?![\\p{L}\\p{N}])`, 'giu');
}

function madeVague(request: Request, pattern: RegExp, value: string | number, random: Random): Request {
  const vague = random.pick(typeof value === 'number' ? VAGUE_NUMBERS : VAGUE_TEXTS);
  return withTexts(request, (text) => text.replaceAll(pattern, vague));
}

/** The assistant asks for the value, and nobody knows it. */
function withoutAnswer(request: Request, pointer: JsonPointer, random: Random): Request {
  const turns: readonly ChatMessage[] = typeof request === 'string' ? [{ role: 'user', content: request }] : request;
  const name = wordsOf(tokensOf(pointer).findLast((token) => !/^\d+$/u.test(token)) ?? '');
  return [...turns, { role: 'assistant', content: `Which ${name} is it?` }, { role: 'user', content: random.pick(UNANSWERED) }];
}

/**
 * A repairable corruption whose request is vague about another value, one that the call has already: vague words alone are no reason to decline. Undefined
 * where no other value is said once and in words of its own.
 */
export function vagueElsewhere(corruption: Corruption, call: LegalCall, random: Random): Corruption | undefined {
  const { answer, request } = corruption;
  if (answer.kind === 'abstain') return undefined;
  const written = answer.patch.flatMap((operation) => [operation.path, ...('from' in operation ? [operation.from] : [])]);
  const isWritten = (pointer: JsonPointer): boolean => written.some((path) => isPrefix(path, pointer) || isPrefix(pointer, path));
  const said = call.mentions === undefined ? Object.keys(call.arguments).map((name) => childOf(ROOT_POINTER, name)) : [...call.mentions.keys()];
  for (const pointer of random.shuffled(said.filter((each) => !isWritten(each)))) {
    const value = resolvePointer(call.arguments, pointer);
    const pattern = patternOf(wordsAt(call, pointer), request);
    if (pattern === undefined || (typeof value !== 'string' && typeof value !== 'number') || [...wholeText(request).matchAll(pattern)].length !== 1) continue;
    const vague = madeVague(request, pattern, value, random);
    // one value's words may lie inside another's
    const kept = said.filter(isWritten).map((each) => wordsAt(call, each));
    if (kept.every((words) => wholeText(vague).includes(words) || !wholeText(request).includes(words))) return { ...corruption, request: vague };
  }
  return undefined;
}
