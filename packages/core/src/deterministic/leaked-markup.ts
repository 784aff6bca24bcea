/**
 * The markup of tool calls, left in the text of an argument: where a serving stack misses the end of an argument, its text goes on with that end, with
 * the arguments behind it and with the end of the call. Read are the forms `<parameter name="a">`, `<parameter=a>`, `<a>` and
 * `<arg_key>a</arg_key><arg_value>`. A text that begins one of them before it ends one is about markup, and nothing is read in it.
 */

export interface ArgumentText {
  readonly name: string;
  readonly text: string;
}

const CALL_ENDS: readonly string[] = ['invoke', 'function', 'function_calls', 'tool_call'];
const ENDS: readonly string[] = ['parameter', 'arg_value', ...CALL_ENDS];
const MARKUP: readonly string[] = ['arg_key', ...ENDS];

const TAG = /<(\/?)(?:[a-z]+:)?([\p{L}\p{N}_.-]+)(?: name="[^"<>]*"|=[^<>\s"]+)?>/gu;
const END = new RegExp(`^\\s*</(?:[a-z]+:)?(${ENDS.join('|')})>`, 'u');
const BEGIN = /^\s*<(?:(?:[a-z]+:)?parameter(?: name="([^"<>]+)"|=([^<>\s"]+))|arg_key>([^<>]+)<\/arg_key>\s*<arg_value|([\p{L}\p{N}_.-]+))>/u;

/**
 * The argument `name` with the `text` that it should have had, then those that it swallowed, in their order; undefined where no markup was left in it, where one
 * of them has no text, or where what follows is anything but arguments and the end of the call. O(text).
 */
export function readLeakedMarkup(name: string, text: string): readonly ArgumentText[] | undefined {
  const found: ArgumentText[] = [];
  let isOver = false;
  const take = (argument: string, from: string): string | undefined => {
    const tag = firstTag(from, argument);
    // the next begins before this one has ended: whose the text is stays open
    if (tag?.isEnd === false) return undefined;
    found.push({ name: argument, text: withoutFrame(from.slice(0, tag?.start)) });
    isOver ||= CALL_ENDS.includes(tag?.element ?? '');
    return tag === undefined ? '' : from.slice(tag.end);
  };
  if (firstTag(text, name) === undefined) return undefined;
  for (let rest = take(name, text); rest !== undefined;) {
    if (rest.trim() === '') return found.some((argument) => argument.text.trim() === '') ? undefined : found;
    const end = END.exec(rest);
    const begin = BEGIN.exec(rest);
    if (end !== null) {
      isOver ||= CALL_ENDS.includes(end[1] ?? '');
      rest = rest.slice(end[0].length);
    } else if (begin !== null && !isOver) {
      rest = take(begin.slice(1).find((each) => each !== undefined) ?? '', rest.slice(begin[0].length));
    } else {
      return undefined;
    }
  }
  return undefined;
}

/** The first tag of a call's markup, or of the argument's own name. */
function firstTag(text: string, name: string): { readonly start: number; readonly end: number; readonly isEnd: boolean; readonly element: string } | undefined {
  for (const { 0: tag, 1: slash, 2: element = '', index } of text.matchAll(TAG)) {
    if (element === name || MARKUP.includes(element)) return { start: index, end: index + tag.length, isEnd: slash === '/' && element !== 'arg_key', element };
  }
  return undefined;
}

/** Some forms put each value on lines of its own. */
function withoutFrame(text: string): string {
  return text.replace(/^\n/u, '').replace(/\n$/u, '');
}
