/**
 * Argument text as models write it: a code fence or a lead-in around the object, the object in a list of one or inside a JSON string, the same text
 * written twice. A reading only finds a part of the text and hands it to the one strict parser; it never adds, drops or mends a character of
 * that part. Where two readings differ, a part may be missing, or the words around might set the object aside, there is none.
 */
import { parseJsonWithLosses } from '../json/parse.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/value.ts';

export type ReadingKind = 'padding' | 'code-fence' | 'prose' | 'repeated' | 'list-of-one' | 'json-in-text' | 'wrapper';

/** One step inwards: `start` and `end` (exclusive) count UTF-16 units of the text that the step before gave, the first step's of the whole text. */
export interface ReadingStep {
  readonly kind: ReadingKind;
  readonly start: number;
  readonly end: number;
}

export interface Reading {
  /** The text of one JSON object: what is judged, and dispatched where it is accepted unchanged. */
  readonly argumentsText: string;
  readonly steps: readonly ReadingStep[];
}

/** JSON inside a JSON string, once or twice. */
const MAX_DECODINGS = 2;
const MAX_STEPS = 6;

/**
 * The reading of a text that is not itself one JSON object; undefined where it is one, or where there is no lossless reading. `toolName` may stand
 * among the words around the object. O(text.length).
 */
export function findReading(text: string, toolName: string): Reading | undefined {
  const steps: ReadingStep[] = [];
  let inner = text;
  for (;;) {
    const json = parseJsonWithLosses(inner);
    if (json.ok && isJsonObject(json.value.value)) return steps.length === 0 ? undefined : { argumentsText: inner, steps };
    const step = json.ok ? insideValue(inner, json.value.value) : aroundValue(inner, toolName);
    if (step === undefined || steps.length === MAX_STEPS) return undefined;
    steps.push(step);
    if (steps.filter(({ kind }) => kind === 'json-in-text').length > MAX_DECODINGS) return undefined;
    inner = json.ok && typeof json.value.value === 'string' ? json.value.value : inner.slice(step.start, step.end);
  }
}

function insideValue(text: string, value: JsonValue): ReadingStep | undefined {
  if (typeof value === 'string') return { kind: 'json-in-text', start: 0, end: text.length };
  if (!isJsonArray(value) || value.length !== 1 || !isJsonObject(value[0])) return undefined;
  return { kind: 'list-of-one', ...trimmed(text, text.indexOf('[') + 1, text.lastIndexOf(']')) };
}

function aroundValue(text: string, toolName: string): ReadingStep | undefined {
  const bare = trimmed(text, 0, text.length);
  // a byte order mark, a no-break space: blank to every reader, and not JSON's whitespace
  if (bare.end - bare.start < text.length && parseJsonWithLosses(text.slice(bare.start, bare.end)).ok) return { kind: 'padding', ...bare };
  const parts = bracketedParts(text);
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const one = text.slice(first.start, first.end);
  if (!parseJsonWithLosses(one).ok) return undefined;
  const isRepeated = parts.every((part, index) => text.slice(part.start, part.end) === one
    && (index === 0 || text.slice(parts[index - 1]?.end, part.start).trim() === ''));
  const [before, after] = [text.slice(0, first.start).trim(), text.slice(last.end).trim()];
  const isFramed = isFrame(before, toolName) && (after === STREAM_END || isFrame(after, toolName)) && before.includes('(') === after.includes(')');
  if (!isRepeated || !isFramed) return undefined;
  if (parts.length > 1) return { kind: 'repeated', ...first };
  return { kind: /```\w*$/.test(before) && after.startsWith('```') ? 'code-fence' : 'prose', ...first };
}

/** An empty string behind the object is what some streams append. */
const STREAM_END = '""';

/**
 * Words of lead-ins, tags and fences that neither deny an object nor set it aside, in whatever order. The list is closed and in English: "do not send",
 * "for example", "the old call was" each need a word that is not in it, and in another language every word is.
 */
const FRAME_WORDS: ReadonlySet<string> = new Set((
  'a are args arguments as below call calling certainly corrected final following for function here i input is javascript js json let me my now object ok okay '
  + 'parameters python sure the these this to tool using valid with your'
).split(' '));

/** Whether a text around an object carries nothing: words of the list and the tool's name, marks of Markdown, brackets of a call, tags. */
function isFrame(text: string, toolName: string): boolean {
  const parts = text.replaceAll(/<[/|]?(\w+)\|?>/g, ' $1 ').split(/[\s*`();]+/);
  return parts.every((part) => {
    const word = part.replace(/[.:!,]$/, '');
    return part === '' || word === toolName || word.split('_').every((each) => FRAME_WORDS.has(each.toLowerCase()));
  });
}

/** The outermost bracketed parts, strings inside them skipped; none where the brackets do not pair. */
export function bracketedParts(text: string): readonly Pick<ReadingStep, 'start' | 'end'>[] {
  const parts: Pick<ReadingStep, 'start' | 'end'>[] = [];
  let depth = 0;
  let start = 0;
  // quotes are prose's own outside of the brackets
  for (const { 0: token, index } of text.matchAll(/[{[\]}]|"(?:[^"\\]+|\\.)*"?/gsu)) {
    if (token === '{' || token === '[') {
      if (depth === 0) start = index;
      depth += 1;
    } else if (token === '}' || token === ']') {
      depth -= 1;
      if (depth < 0) return [];
      if (depth === 0) parts.push({ start, end: index + 1 });
    } else if (depth === 0 && /[{}[\]]/.test(token)) {
      return [];
    }
  }
  return depth === 0 ? parts : [];
}

function trimmed(text: string, from: number, to: number): Pick<ReadingStep, 'start' | 'end'> {
  const part = text.slice(from, to);
  const start = from + part.length - part.trimStart().length;
  return { start, end: start + part.trim().length };
}
