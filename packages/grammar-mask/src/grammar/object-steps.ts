/** The steps of the byte automaton inside objects: names of members, which are literals, and the members that may still follow. */
import { NO_NODE } from './byte-trie.ts';
import { OpenNameSteps } from './open-names.ts';
import { CLOSE_BRACE, COMMA, OBJECT_AFTER, TRIE, type PositionId, type StepContext } from './position.ts';
import { canFinishObject, type GrammarMember, type NodeId, type ObjectNode } from './value-grammar.ts';

export class ObjectSteps {
  readonly openNames: OpenNameSteps;
  readonly #context: StepContext;

  constructor(context: StepContext) {
    this.#context = context;
    this.openNames = new OpenNameSteps(context);
  }

  /** Inside a literal (`object` is −1), or inside the name of a member. */
  stepTrie(node: number, object: NodeId, count: number, rest: PositionId, byte: number, found: PositionId[]): void {
    const { trie } = this.#context.grammar;
    const child = trie.child(node, byte);
    if (child === NO_NODE) return;
    if (trie.hasChildren(child)) found.push(this.#context.positions.intern(TRIE, child, object, count, rest));
    const leaf = trie.leafOf(child);
    if (leaf === undefined) return;
    if (object === -1) {
      found.push(rest);
    } else {
      const { members, counts } = this.#objectAt(object);
      const member = members[leaf] as GrammarMember;
      this.#context.begin(member.value, this.#context.positions.intern(OBJECT_AFTER, object, leaf + 1, counts === undefined ? 0 : count + 1, rest), found);
    }
  }

  /** Between two members, or behind the opening brace. */
  stepObject(id: NodeId, passed: number, count: number, isFirst: boolean, rest: PositionId, byte: number, found: PositionId[]): void {
    const { members, counts, open } = this.#objectAt(id);
    const isEnough = count >= (counts?.min ?? 0);
    const isRequired = members.slice(passed).some((member) => member.required);
    if (byte === CLOSE_BRACE && isEnough && !isRequired) found.push(rest);
    if (counts !== undefined && count >= counts.max) return;
    if (open !== undefined && !isRequired && canFinishObject(this.#objectAt(id), members.length, count + 1) && (isFirst || byte === COMMA)) {
      const names: PositionId[] = [];
      this.openNames.begin(id, passed, count, rest, names);
      if (isFirst) for (const name of names) this.#context.step(name, byte, found);
      else found.push(...names);
    }
    if (passed >= members.length) return;
    const keys = this.#context.grammar.keysAfter(id, passed, count);
    if (isFirst) this.stepTrie(keys, id, count, rest, byte, found);
    else if (byte === COMMA && this.#context.grammar.trie.hasChildren(keys)) found.push(this.#context.positions.intern(TRIE, keys, id, count, rest));
  }

  #objectAt(id: NodeId): ObjectNode {
    return this.#context.grammar.nodes[id] as ObjectNode;
  }
}
