/** The keys of an example, from the row as it is written and nothing else: so a data set can be audited by whoever has the file, and the builder is not believed. */
import { isJsonObject, parseJson, parsePatch, type JsonObject, type ToolDefinition } from '@contractrl/core';
import type { Example } from '../data/example.ts';
import { wholeText, type Request } from '../request.ts';
import { callKeys, caseKeys, type KeyOf } from './keys.ts';

/** Also known by the identifiers of the legal call and of the row that it was made of. O(row). */
export function exampleKeys({ id, record, answer, target, report }: Pick<Example, 'id' | 'record' | 'answer' | 'target' | 'report'>): readonly KeyOf[] {
  const { request, tool, call } = record as unknown as { readonly request: Request; readonly tool: ToolDefinition; readonly call: { readonly name: string; readonly arguments: string } };
  const candidate = parseJson(call.arguments);
  const patch = parsePatch(answer);
  const callId = id.slice(0, id.lastIndexOf('#'));
  return [
    ...callKeys({ id, request: wholeText(request), tools: [tool], target: target ?? undefined }), ['case-id', callId], ['case-id', callId.slice(callId.indexOf(':') + 1)],
    ...caseKeys({ toolName: call.name, candidate: candidate.ok && isJsonObject(candidate.value) ? candidate.value as JsonObject : undefined, operations: patch.ok ? patch.value : [], faults: report }),
  ];
}
