/** Family: tools that are not there, and names that only look like those that are. */
// checklist: H5
import fc from 'fast-check';
import { requestOf, TRANSFER } from '../support.ts';
import { attack, family, PROTOTYPE_NAMES, saying } from './support.ts';

const NAMES = ['transfer', 'Transfer', 'transfer ', 'transfer\u200b', 'tr\u0430nsfer', 'transfer\u0000', 'trans\u00adfer', 'transfer_v2', 'refund', '', ' ', '*', '../transfer', 'functions.transfer', ...PROTOTYPE_NAMES];
const name = fc.oneof({ weight: 2, arbitrary: fc.constant('transfer') }, { weight: 3, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 9 }) });
const offered = fc.oneof(fc.constant(['transfer']), fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 }));
const given = fc.constantFrom<object>({ to: 'ACC-2041', amount_cents: 15000 }, { to: 'ACC-2041', amount_cents: 'x' }, {});

family('only the contract\u2019s own tool, by its exact name and on offer, is called', fc.tuple(name, offered, given), { runs: 400, sees: ['abstained', 'valid', 'repaired'] }, ([called, tools, args]) =>
  attack(requestOf({ tool: TRANSFER, tools, call: { name: called, arguments: args } }), saying('[{"op":"replace","path":"/amount_cents","value":15000}]')));
