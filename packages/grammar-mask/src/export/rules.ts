/**
 * A patch language as rules over characters, for the two grammar formats: GBNF and Lark differ in how a rule is written, not in what it
 * says. Everything up to the first operation is regular (made of *tokens*); later operations may write any JSON value, which needs rules that
 * call themselves. Equal rules are one rule. Numbers, patterns and formats are the mask's own automata, written out, so they stay exact.
 */
import { assertNever, type JsonPointer, type JsonValue, type OperationKind } from '@contractrl/core';
import { contentAutomaton, type SchemaNode, type StringNode, type TextContent } from '@contractrl/core/schema';
import { fromUtf8 } from '../bytes.ts';
import { numberMachine, type NumberSpec } from '../grammar/decimal.ts';
import { StringContent } from '../grammar/string-content.ts';
import { writeAcyclic, writeCyclic, writeRecursive, type Automaton, type Range } from './automaton-rules.ts';
import { characters, choice, EMPTY, optional, partsOf, repeat, rule, sequence, text, type Expression } from './expression.ts';
import type { Omissions } from './omission.ts';
import type { OperationForm, PatchForms } from './patch-forms.ts';

export interface Rule {
  readonly name: string;
  /** `token`: regular, and made of other tokens only. */
  readonly kind: 'token' | 'rule';
  readonly body: Expression;
}

export interface Rules {
  readonly root: Expression;
  readonly rules: readonly Rule[];
}

/** What a format can do. */
export interface Abilities {
  /** How far it can count. */
  readonly maxRepeat: number;
  /** Whether a token may call itself. */
  readonly recursiveTokens: boolean;
}

export function toRules(forms: PatchForms, abilities: Abilities, omissions: Omissions): Rules {
  return new RuleWriter(forms, abilities, omissions).write();
}

class RuleWriter {
  readonly #forms: PatchForms;
  readonly #abilities: Abilities;
  readonly #omissions: Omissions;
  /** Whether every character but quote, backslash and control characters is spelled raw. */
  readonly #isAllRaw: boolean;
  readonly #rules = new Map<string, Rule>();
  /** Names of rules by kind and body. */
  readonly #names = new Map<string, string>();

  constructor(forms: PatchForms, abilities: Abilities, omissions: Omissions) {
    this.#forms = forms;
    this.#abilities = abilities;
    this.#omissions = omissions;
    this.#isAllRaw = forms.spelling.isSpellable.subarray(0x20).every((spellable, index) => spellable === 1 || isNeverInUtf8(index + 0x20));
  }

  write(): Rules {
    const { first, laterKinds, maxOperations, abstainCodes } = this.#forms;
    const abstain = sequence(text('{"abstain":'), choice(abstainCodes.map((code) => text(JSON.stringify(code)))), text('}'));
    if (first.length === 0) return { root: abstain, rules: [] };
    this.#writeCharacters();
    const operation = this.#token('operation', choice(first.map((form) => this.#operation(form))));
    const more = laterKinds.length === 0 ? [] : [repeat(sequence(text(','), this.#laterOperation(laterKinds)), 0, maxOperations - 1)];
    const root = choice([sequence(text('['), operation, ...more, text(']')), abstain]);
    return { root, rules: this.#reachableFrom(root) };
  }

  /** In the order of their making; rules of attempts that were given up are left out. */
  #reachableFrom(root: Expression): readonly Rule[] {
    const reached = new Set<string>();
    const visit = (expression: Expression): void => {
      if (expression.kind !== 'rule') partsOf(expression).forEach(visit);
      else if (!reached.has(expression.name)) {
        reached.add(expression.name);
        visit((this.#rules.get(expression.name) as Rule).body);
      }
    };
    visit(root);
    return [...this.#rules.values()].filter(({ name }) => reached.has(name));
  }

  #operation(form: OperationForm): Expression {
    switch (form.kind) {
      case 'write': {
        const value = this.#value(form.node, form.paths[0]);
        // what the mask finds empty is no form
        if (value === undefined) throw new RangeError(`Nothing to write at ${form.paths[0]}`);
        return sequence(text(`{"op":"${form.op}","path":`), this.#literals(form.paths), text(',"value":'), value, text('}'));
      }
      case 'remove': return sequence(text('{"op":"remove","path":'), this.#literals(form.paths), text('}'));
      case 'transfer': {
        const target = form.paths === undefined ? rule('pointer') : this.#literals(form.paths);
        return sequence(text(`{"op":"${form.op}","from":${this.#spell(form.from)},"path":`), target, text('}'));
      }
      default: return assertNever(form);
    }
  }

  #laterOperation(kinds: readonly OperationKind[]): Expression {
    this.#writeAnyValue();
    const pointer = rule('pointer');
    const branches = kinds.map((op) => {
      if (op === 'remove') return sequence(text('{"op":"remove","path":'), pointer, text('}'));
      if (op === 'move' || op === 'copy') return sequence(text(`{"op":"${op}","from":`), pointer, text(',"path":'), pointer, text('}'));
      return sequence(text(`{"op":"${op}","path":`), pointer, text(',"value":'), rule('anyvalue'), text('}'));
    });
    return this.#define('later', 'rule', choice(branches));
  }

  /** The values of a node; undefined where there are none. */
  #value(node: SchemaNode, at: JsonPointer): Expression | undefined {
    switch (node.kind) {
      case 'literals': return node.values.length === 0 ? undefined : this.#literals(node.values);
      case 'string': return this.#string(node, at);
      case 'number': return this.#number(node, at);
      case 'array': return this.#array(node, at);
      case 'object': return this.#object(node, at);
      case 'union': {
        const branches = node.branches.flatMap((branch) => this.#value(branch, at) ?? []);
        return branches.length === 0 ? undefined : choice(branches);
      }
      default: return assertNever(node);
    }
  }

  #string(node: StringNode, at: JsonPointer): Expression | undefined {
    const { minLength, content, maxLength = Math.max(this.#forms.limits.maxStringLength, minLength) } = node;
    if (minLength > maxLength) return undefined;
    const exact = content === undefined ? undefined : this.#content(content, minLength, maxLength, at);
    if (exact !== undefined) return this.#token('string', sequence(text('"'), exact, text('"')));
    if (content !== undefined) this.#omissions.add('string-content', at);
    return this.#token('string', sequence(text('"'), this.#counted(rule('char'), minLength, maxLength, 'string-length', at), text('"')));
  }

  /** The texts of `pattern` and `format`, lengths counted along where that is possible; undefined where it needs too many rules. */
  #content(asked: TextContent, minLength: number, maxLength: number, at: JsonPointer): Expression | undefined {
    const automaton = contentAutomaton(asked, minLength);
    if (automaton === undefined) return undefined;
    const { intervalStarts, intervalSymbols, isAccepting, next, symbolCount } = automaton;
    const intervals = [...intervalStarts].map((first, index) => [first, (intervalStarts[index + 1] ?? 0x110000) - 1] as const);
    const content = new StringContent(automaton, minLength, maxLength);
    const over = (start: number, accepts: (state: number) => boolean, targetOf: (state: number, interval: number) => number): Automaton => ({
      start,
      isAccepting: accepts,
      stepsFrom: (state) => intervals.map((symbol, index) => ({ symbol, target: intervalSymbols[index] === -1 ? -1 : targetOf(state, index) })).filter(({ target }) => target >= 0),
      show: (ranges) => this.#characters(ranges),
    });
    const define = (body: Expression): Expression => this.#token('content', body);
    const counted = writeAcyclic(over(content.start, (state) => content.isAccepting(state), (state, index) => content.next(state, intervalStarts[index] as number)), define);
    if (counted !== undefined) return counted;
    const plain = over(0, (state) => isAccepting[state] === 1, (state, index) => next[state * symbolCount + (intervalSymbols[index] as number)] as number);
    const uncounted = writeAcyclic(plain, define) ?? (this.#abilities.recursiveTokens ? writeRecursive(plain, () => this.#reserve('content')) : writeCyclic(plain, define));
    if (uncounted !== undefined) this.#omissions.add('string-length', at);
    return uncounted;
  }

  /** A repetition within what the format can count. */
  #counted(item: Expression, min: number, max: number, code: 'string-length' | 'item-count', at: JsonPointer): Expression {
    if (max <= this.#abilities.maxRepeat) return repeat(item, min, max);
    this.#omissions.add(code, at);
    return repeat(item, Math.min(min, this.#abilities.maxRepeat));
  }

  #number(node: NumberSpec, at: JsonPointer): Expression | undefined {
    const machine = numberMachine(node);
    if (machine.isEmpty) return undefined;
    const exact = writeAcyclic({
      start: machine.start,
      isAccepting: (state) => machine.isComplete(state),
      stepsFrom: (state) => NUMBER_BYTES.map((byte) => ({ symbol: [byte, byte] as const, target: machine.next(state, byte) })).filter(({ target }) => target >= 0),
      show: (ranges) => characters(setOf(ranges)),
    }, (body) => this.#token('number', body));
    if (exact !== undefined) return exact;
    this.#omissions.add('number-bounds', at);
    return rule('anynumber');
  }

  /** Code points of a string as the mask spells them: raw, but for quote, backslash and control characters. */
  #characters(ranges: readonly Range[]): Expression {
    const isRaw = (codePoint: number): boolean => codePoint >= 0x20 && codePoint !== 0x22 && codePoint !== 0x5c;
    const branches: Expression[] = [];
    const raw: Range[] = [];
    for (const [first, last] of ranges) {
      for (let codePoint = first; codePoint <= Math.min(last, 0x5c); codePoint += 1) {
        if (isRaw(codePoint)) raw.push([codePoint, codePoint]);
        else branches.push(text(JSON.stringify(String.fromCharCode(codePoint)).slice(1, -1)));
      }
      if (last > 0x5c) raw.push([Math.max(first, 0x5d), last]);
    }
    if (raw.length > 0) branches.push(characters(setOf(raw)));
    if (!this.#isAllRaw && ranges.some(([, last]) => last > 0x7e)) branches.push(rule('unit'));
    return choice(branches);
  }

  #array(node: Extract<SchemaNode, { readonly kind: 'array' }>, at: JsonPointer): Expression | undefined {
    const { minItems, contains, prefix: prefixNodes } = node;
    if (contains !== undefined) this.#omissions.add('contains', at);
    if (node.uniqueItems === true) this.#omissions.add('unique-items', at);
    const prefix = prefixNodes.map((item) => this.#value(item, at));
    const rest = this.#value(node.rest, at);
    const firstEmpty = prefix.indexOf(undefined);
    const possible = firstEmpty !== -1 ? firstEmpty : rest === undefined ? prefix.length : Infinity;
    const maxItems = Math.min(possible, node.maxItems ?? Math.max(this.#forms.limits.maxItems, minItems, contains?.min ?? 0));
    if (minItems > maxItems) return undefined;
    /** What may follow `count` elements. */
    const after = (count: number): Expression => {
      if (count >= maxItems) return EMPTY;
      const isPrefix = count < prefix.length;
      const item = (isPrefix ? prefix[count] : rest) as Expression;
      if (count > 0 && !isPrefix) return this.#counted(sequence(text(','), item), Math.max(0, minItems - count), maxItems - count, 'item-count', at);
      const next = sequence(...(count === 0 ? [] : [text(',')]), item, after(count + 1));
      return count >= minItems ? optional(next) : next;
    };
    return this.#token('array', sequence(text('['), after(0), text(']')));
  }

  /** Members in order, those that are not required left out at will, and counted where the schema counts them. */
  #object({ members, minProperties = 0, maxProperties = members.length }: Extract<SchemaNode, { readonly kind: 'object' }>, at: JsonPointer): Expression | undefined {
    const isCounted = minProperties > 0 || maxProperties < members.length;
    const values = members.map(({ node }) => this.#value(node, at));
    const known = new Map<string, Expression | undefined>();
    /** What may follow once `passed` members are decided and `count` written (any number above 0 is 1 where none are counted). */
    const after = (passed: number, count: number): Expression | undefined => {
      const member = members[passed];
      if (member === undefined) return !isCounted || (count >= minProperties && count <= maxProperties) ? EMPTY : undefined;
      const key = `${passed} ${count}`;
      if (known.has(key)) return known.get(key);
      const value = values[passed];
      const rest = value === undefined ? undefined : after(passed + 1, isCounted ? count + 1 : 1);
      const written = value === undefined || rest === undefined ? [] : [sequence(text(`${count > 0 ? ',' : ''}${this.#spell(member.name)}:`), value, rest)];
      const left = member.required ? undefined : after(passed + 1, count);
      const branches = left === undefined ? written : [...written, left];
      const body = branches.length === 0 ? undefined : this.#token('members', choice(branches));
      known.set(key, body);
      return body;
    };
    const all = after(0, 0);
    return all === undefined ? undefined : this.#token('object', sequence(text('{'), all, text('}')));
  }

  #literals(values: readonly JsonValue[]): Expression {
    return choice(values.map((value) => text(this.#spell(value))));
  }

  #spell(value: JsonValue): string {
    return fromUtf8(this.#forms.spelling.literalOf(value));
  }

  #token(name: string, body: Expression): Expression {
    return this.#define(name, 'token', body);
  }

  /** The rule with this body: a known one, or a new one named after `name`. */
  #define(name: string, kind: Rule['kind'], body: Expression): Expression {
    const key = `${kind} ${JSON.stringify(body)}`;
    const known = this.#names.get(key);
    if (known !== undefined) return rule(known);
    const free = this.#freeName(name);
    this.#names.set(key, free);
    this.#rules.set(free, { name: free, kind, body });
    return rule(free);
  }

  /** A token whose body comes later, since it calls itself. */
  #reserve(name: string): { readonly rule: Expression; readonly fill: (body: Expression) => void } {
    const free = this.#freeName(name);
    this.#rules.set(free, { name: free, kind: 'token', body: EMPTY });
    return { rule: rule(free), fill: (body) => { this.#rules.set(free, { name: free, kind: 'token', body }); } };
  }

  #freeName(name: string): string {
    return this.#rules.has(name) ? `${name}${this.#rules.size}` : name;
  }

  /** One code point of a string in the mask's spelling. */
  #writeCharacters(): void {
    const escapes = [characters('\\x22\\\\bfnrt'), sequence(text('u00'), choice([sequence(text('0'), characters('0-7bef')), sequence(text('1'), characters('0-9a-f'))]))];
    if (!this.#isAllRaw) {
      this.#omissions.add('character-spelling');
      const unit = sequence(text('\\u'), repeat(characters('0-9a-f'), 4, 4));
      escapes.push(sequence(text('u'), repeat(characters('0-9a-f'), 4, 4), optional(unit)));
      this.#token('unit', sequence(unit, optional(unit)));
    }
    this.#token('escape', sequence(text('\\'), choice(escapes)));
    this.#token('char', choice([characters('^\\x22\\\\\\x00-\\x1f'), rule('escape')]));
    const inToken = choice([characters('^\\x22\\\\\\x00-\\x1f\\x2f~'), sequence(text('~'), characters('01')), rule('escape')]);
    this.#token('pointer', sequence(text('"'), repeat(sequence(text('/'), repeat(inToken, 0)), 1), text('"')));
    const digits = repeat(characters('0-9'), 1);
    this.#token('anynumber', sequence(optional(text('-')), choice([text('0'), sequence(characters('1-9'), repeat(characters('0-9'), 0))]),
      optional(sequence(text('.'), digits)), optional(sequence(text('e'), characters('+\\x2d'), digits))));
  }

  /** Any JSON value, of any depth. */
  #writeAnyValue(): void {
    this.#token('anystring', sequence(text('"'), repeat(rule('char'), 0), text('"')));
    const value = rule('anyvalue');
    const member = sequence(rule('anystring'), text(':'), value);
    const listOf = (item: Expression): Expression => optional(sequence(item, repeat(sequence(text(','), item), 0)));
    this.#define('anyvalue', 'rule', choice([
      rule('anystring'), rule('anynumber'), text('true'), text('false'), text('null'),
      sequence(text('['), listOf(value), text(']')), sequence(text('{'), listOf(member), text('}')),
    ]));
  }
}

const NUMBER_BYTES: readonly number[] = [0x2d, 0x2e, ...Array.from({ length: 10 }, (_, digit) => 0x30 + digit)];

/** What stands between the brackets of a class of ascending ranges. */
function setOf(ranges: readonly Range[]): string {
  const runs: [number, number][] = [];
  for (const [first, last] of ranges) {
    const run = runs.at(-1);
    if (run !== undefined && first === run[1] + 1) run[1] = last;
    else runs.push([first, last]);
  }
  return runs.map(([first, last]) => (first === last ? showCodePoint(first) : `${showCodePoint(first)}-${showCodePoint(last)}`)).join('');
}

/** Letters, digits and the point stand for themselves; both formats read the escapes of the rest. */
function showCodePoint(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (/^[0-9A-Za-z.]$/.test(character)) return character;
  if (codePoint < 0x80) return `\\x${codePoint.toString(16).padStart(2, '0')}`;
  return codePoint < 0x10000 ? `\\u${codePoint.toString(16).padStart(4, '0')}` : `\\U${codePoint.toString(16).padStart(8, '0')}`;
}

function isNeverInUtf8(byte: number): boolean {
  return byte === 0xc0 || byte === 0xc1 || byte > 0xf4;
}
