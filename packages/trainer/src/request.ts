/** What the user asked: one text, or the turns of a dialogue, as a repair request takes either. Audit and split read all turns as one text. */
import type { ChatMessage } from '@contractrl/core';

export type Request = string | readonly ChatMessage[];

/** Of every turn, whoever speaks: each is public. */
export function textsOf(request: Request): readonly string[] {
  return typeof request === 'string' ? [request] : request.map(({ content }) => content);
}

/** Turns on lines of their own. */
export function wholeText(request: Request): string {
  return textsOf(request).join('\n');
}

/** Each text by `change`; turns of which nothing is left are left out. */
export function withTexts(request: Request, change: (text: string, turn: number) => string): Request {
  if (typeof request === 'string') return change(request, 0);
  return request.map((message, turn) => ({ ...message, content: change(message.content, turn) })).filter(({ content }) => content.trim() !== '');
}
