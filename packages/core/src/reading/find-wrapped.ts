/**
 * All arguments wrapped once more, as the request of a provider wraps them: `{"input": {…}}`, `{"name": "read", "arguments": {…}}`. A reading only
 * where the contract knows no member of that name and nothing else stands beside it; that what is inside is valid, and the whole is not, the judge says.
 */
import type { Contract } from '../contract/contract.ts';
import { schemaAt, sitesBelow } from '../contract/schema-at.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { lastTokenOf, ROOT_POINTER } from '../pointer.ts';
import { bracketedParts, type Reading } from './find-reading.ts';

/** Members of provider formats, and what one prompt template leaves in place of a name. None of them says anything of what it holds. */
const WRAPPERS = ['input', 'tool_input', 'arguments', 'args', 'kwargs', 'parameters', 'params', '$PARAMETER_NAME'];

/** The object inside the one wrapper that `value`, which `text` spells, consists of; undefined where it is none. */
export function findWrapped(contract: Contract, text: string, value: JsonValue | undefined): Reading | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name: toolName = contract.document.tool.name, ...others } = value;
  const [wrapper, ...rest] = Object.keys(others);
  if (wrapper === undefined || rest.length > 0 || !WRAPPERS.includes(wrapper) || !isJsonObject(others[wrapper]) || toolName !== contract.document.tool.name) return undefined;
  const root = schemaAt(contract, value, ROOT_POINTER);
  const isKnown = (name: string): boolean => sitesBelow(root, value, name).some(({ keywordLocation }) => lastTokenOf(keywordLocation) !== 'additionalProperties');
  const from = text.indexOf('{') + 1;
  const [part, ...more] = bracketedParts(text.slice(from, text.lastIndexOf('}')));
  if (Object.keys(value).some(isKnown) || part === undefined || more.length > 0) return undefined;
  const [start, end] = [from + part.start, from + part.end];
  return { argumentsText: text.slice(start, end), steps: [{ kind: 'wrapper', start, end }] };
}
