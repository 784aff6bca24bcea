/** The smallest task for a policy that learns from its attempts. */
import type { Example, Split } from '../../src/data/example.ts';

/** A word for another: to decline or not, and then which of two, is all that the policy decides. */
export function choiceOf(id: string, split: Split): Example {
  const parameters = { type: 'object', properties: { size: { type: 'string', enum: ['big', 'low'] } }, required: ['size'], additionalProperties: false };
  return {
    id, split, source: 'toy', family: 'enum', form: 'stranger', difficulty: 'listed', structure: 'flat', noise: null, report: [{ code: 'enum_mismatch', pointer: '/size' }],
    target: { size: 'big' }, answer: '[{"op":"replace","path":"/size","value":"big"}]',
    record: { id, request: `Make it big (${id})`, tool: { name: 'make', description: 'Makes', parameters }, call: { name: 'make', arguments: '{"size":"odd"}' }, contract: { allowedOperations: ['replace'] } },
  };
}
