/** Family: texts that look alike and are not, and texts that no bytes can carry. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { canonicalText, parseJson, type JsonObject } from '../../src/index.ts';
import { readRepairRequest } from '../../src/records.ts';
import { requestOf, TRANSFER } from '../support.ts';
import { attack, family, rawRequest, saying } from './support.ts';

const LOOK_ALIKES = ['caf\u00e9', 'cafe\u0301', 'Caf\u00e9', 'caf\u00e9\u200b', '\u202ecaf\u00e9', 'caf\u00e9\u202c', 'c\u0430f\u00e9', 'caf\u00e9 ', '\ufeffcaf\u00e9', 'CAF\u00c9', 'ca\ufb00\u00e9', '\u1e9e', 'ss', '\u0131', 'i', '\u212a', 'K'];
const like = fc.constantFrom(...LOOK_ALIKES);

family('a name or value is the one declared by code units, never by looks', fc.tuple(like, fc.option(like, { freq: 2 }), like, fc.option(like, { freq: 2 })), { runs: 300, sees: ['valid', 'failed', 'repaired'] }, async ([declared, other, allowed, wrong]) => {
  const [given, value] = [other ?? declared, wrong ?? allowed];
  const parameters: JsonObject = { type: 'object', properties: { [declared]: { enum: [allowed] } }, required: [declared], additionalProperties: false };
  const request = requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: { [given]: value } } });
  const status = await attack(request, saying(JSON.stringify([{ op: 'replace', path: `/${declared}`, value: allowed }])));
  expect(status === 'valid').toBe(declared === given && allowed === value);
  return status;
});

const unit = fc.oneof(fc.constantFrom('\ud800', '\udc00', '\ud83d\ude00', '\ude00\ud83d', '\u2028', '\u0000', '\u007f', '\uffff', '\u202e', '\u2066', 'a', '"', '\\', '\u00e9', 'e\u0301'), fc.string({ unit: 'binary', maxLength: 2 }));
const wild = fc.array(unit, { maxLength: 5 }).map((units) => units.join(''));
const escaped = wild.map((text) => [...Array(text.length).keys()].map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''));
const isWhole = (text: string): boolean => !/\p{Surrogate}/u.test(text);

family('half a surrogate pair goes nowhere, raw or escaped, in a name, a value or a patch', fc.tuple(wild, fc.oneof(wild.map((text) => JSON.stringify(text).slice(1, -1)), escaped), wild), { runs: 400, sees: ['valid', 'abstained', 'repaired'] },
  async ([raw, spelled, patched]) => {
    const parameters: JsonObject = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'boolean' } } };
    const request = rawRequest({ ...requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: {} } }), call: { name: 'put', argumentsText: `{"a":"${spelled}","b":${isWhole(raw) && raw.length % 2 === 0 ? 'true' : '"no"'}}` } });
    const status = await attack(request, saying(`[{"op":"replace","path":"/b","value":true},{"op":"replace","path":"/a","value":${JSON.stringify(patched)}}]`));
    const read = parseJson(`"${spelled}"`);
    if (read.ok) expect(isWhole(read.value as string)).toBe(true);
    else expect(status).toBe('abstained');
    return status;
  });

family('what is read keeps its code units: nothing is normalised on the way to the bytes', wild.filter(isWhole), { sees: ['kept'] }, (text) => {
  const read = readRepairRequest({ id: text, request: text, tool: TRANSFER, call: { name: 'transfer', arguments: { memo: text } } });
  expect(read.ok && [read.value.id, JSON.parse(read.value.call.argumentsText)]).toEqual([text, { memo: text }]);
  expect(JSON.parse(canonicalText({ [text]: text }))).toEqual(JSON.parse(JSON.stringify({ [text]: text })));
  return 'kept';
});
