/**
 * Clauses → the request that a user would write: one sentence, several lines, a dialogue with the values in its turns, long-winded, hasty, in another
 * language, or with another thing of the same kind beside the one that is meant. The words of the clauses stay as they are, so that what carries a value is known.
 */
import type { ChatMessage } from '@contractrl/core';
import type { Random } from '../../random.ts';
import type { Request } from '../../request.ts';
import type { Said } from './field.ts';
import { inAnotherLanguage } from './foreign.ts';
import { spoken } from './say.ts';
import { ANSWERS, ASIDES, GREETINGS, OPENINGS, QUESTIONS } from './words.ts';

/** `action`: what is asked for, without its values; `said`: each with a clause; `aside`: a clause about something else of the same kind. */
export function phrase(action: string, said: readonly Said[], aside: string | undefined, draw: Random): Request {
  const asked = hasty(`${draw.pick(OPENINGS)} ${action}`, draw);
  if (said.length > 0 && draw.chance(0.25)) return dialogue(asked, said, aside, draw);
  const core = (draw.chance(1 / 12) ? inAnotherLanguage(action, said, draw) : undefined) ?? withClauses(asked, said, draw);
  const space = draw.pick([' ', '\n', ' ']);
  return draw.shuffled([core, ...asides(aside, draw)]).join(core.includes('\n') ? '\n' : space);
}

function withClauses(asked: string, said: readonly Said[], draw: Random): string {
  if (said.length === 0) return `${asked}.`;
  const clauses = said.map(({ clause }) => clause);
  return draw.pick([
    `${asked} ${clauses.join(', ')}.`, `${asked} ${clauses.join(', ')}.`, `${asked} ${clauses.join(', ')}`, `${asked}: ${clauses.join('; ')}.`, `${asked}.\n${clauses.map((clause) => `- ${clause}`).join('\n')}`,
    `${asked}. What matters: ${clauses.join(', ')}.`,
  ]);
}

/** One in eight rambles on, besides what is said of another thing. */
function asides(aside: string | undefined, draw: Random): readonly string[] {
  const rambling = draw.chance(0.125) ? draw.shuffled(ASIDES).slice(0, 1 + draw.whole(3)) : [];
  return aside === undefined ? rambling : [...rambling, otherOne(aside, draw)];
}

function otherOne(clause: string, draw: Random): string {
  return draw.pick([`Not to be mixed up with the other one, which is ${clause}.`, `The other one is ${clause}, but that is done already.`, `(My colleague's is ${clause}; leave that as it is.)`]);
}

/** The clauses dealt over the turns, in their order; one may be asked for and answered with the bare value, and the last turn may hold none. */
function dialogue(asked: string, said: readonly Said[], aside: string | undefined, draw: Random): readonly ChatMessage[] {
  const first = draw.whole(said.length + 1);
  const [before, after] = [said.slice(0, first), said.slice(first)];
  const others = asides(aside, draw).join(' ');
  const agreed = draw.chance(0.3) ? [assistant('Shall I go ahead?'), user(draw.pick(ANSWERS))] : [];
  const rest = [...furtherTurns(after, draw), ...agreed];
  return draw.chance(0.3) && before.length > 0
    ? [user(draw.pick(GREETINGS), others, `${joinedClauses(before)}.`), assistant('How can I help you with that?'), user(`${asked}.`), ...rest]
    : [user(others, withClauses(asked, before, draw)), ...rest];
}

function furtherTurns(said: readonly Said[], draw: Random): readonly ChatMessage[] {
  const answer = draw.chance(0.5) ? said.find(({ mentions = {} }) => Object.keys(mentions).length === 1) : undefined;
  const told = said.filter((each) => each !== answer);
  const [question] = Object.entries(answer?.mentions ?? {});
  return [
    ...(told.length === 0 ? [] : [assistant(draw.pick(QUESTIONS)), user(`${joinedClauses(told)}.`)]),
    ...(question === undefined ? [] : [assistant(`Which ${spoken(question[0])} is it?`), user(`${question[1]}${draw.pick(['.', '', ', please'])}`)]),
  ];
}

const joinedClauses = (said: readonly Said[]): string => said.map(({ clause }) => clause).join(', ');
const user = (...texts: readonly string[]): ChatMessage => ({ role: 'user', content: texts.filter((text) => text !== '').join(' ') });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

/** One in ten is typed in haste: without capitals, or a letter short. */
function hasty(text: string, draw: Random): string {
  if (!draw.chance(0.1)) return text;
  const lost = 1 + draw.whole(text.length - 1);
  return draw.chance(0.5) ? text.toLowerCase() : text.slice(0, lost) + text.slice(lost + 1);
}
