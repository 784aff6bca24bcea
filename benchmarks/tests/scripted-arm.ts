/** Test support: a whole-object arm that answers from a table, so that every verdict can be brought about at will. */
import { singleShot, NO_COST, type Shot } from '../src/arms/single-shot.ts';
import type { Arm } from '../src/arms/arm.ts';
import type { PublicCase } from '../src/datasets/case.ts';

/** `shots` by case id: text to propose, or a reason to decline. A case without an entry fails with `scripted/no-entry`. */
export function scriptedArm(name: string, shots: Readonly<Record<string, string | { readonly decline: string }>>): Arm {
  let ticks = 0;
  return singleShot({
    name,
    description: 'a table of answers',
    identity: { method: 'scripted' },
    shoot: (_contract, request): Promise<Shot> => {
      const shot = shots[request.id];
      if (shot === undefined) return Promise.resolve({ kind: 'failed', reason: 'scripted/no-entry', cost: NO_COST });
      if (typeof shot !== 'string') return Promise.resolve({ kind: 'declined', reason: shot.decline, cost: NO_COST });
      return Promise.resolve({ kind: 'text', text: shot, isComplete: true, cost: { ...NO_COST, tokens: { prompt: 10, generated: shot.length, forced: 1 } } });
    },
  }, () => (ticks += 5));
}

/** A case whose tool takes an integer `n` (required), a text `note` (immutable) and nothing else. */
export function counterCase(id: string, argumentsText: string): PublicCase {
  return {
    cohort: 'bugcases',
    request: {
      id,
      request: [{ role: 'user', content: 'Count to five.' }],
      contract: {
        tool: {
          name: 'count', description: 'Counts',
          parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 }, note: { type: 'string' } }, required: ['n'], additionalProperties: false },
        },
        allowedOperations: ['add', 'replace', 'remove'], operationBudget: 2, attemptBudget: 2, immutablePaths: ['/note'], crossField: [], gates: [],
      },
      toolNames: ['count'],
      call: { name: 'count', argumentsText },
      finishReason: undefined,
      context: {},
    },
  };
}
