/**
 * Sequences in as few positions as they have different tokens: a tree of what they share, prompt and forced beginnings of answers included, so that a group
 * of completions costs little more than its prompt, several faults of one call little more than one, and equal completions are read once. A decision that
 * several sequences share is one step, which weighs what they weigh together.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { packSegments, type PackedBatch, type Segment } from './batch.ts';

export interface Decision {
  /** Which of the sequence's tokens, from 1. */
  readonly index: number;
  /** What the policy could choose among, ascending. */
  readonly allowed: Int32Array;
}

export interface Sequence<D extends Decision> {
  /** Prompt and answer. */
  readonly tokens: readonly TokenId[];
  readonly decisions: readonly D[];
}

export interface Pack<D extends Decision> {
  /** Its weights are 0: they are given for each run. */
  readonly batch: PackedBatch;
  /** By step of the batch, the decisions that are taken in it. */
  readonly decisions: readonly (readonly D[])[];
}

/** A step has a row of numbers as wide as the vocabulary, several times over: 200 kB each where that is 49,152. */
const MAX_STEPS = 512;

/** One pack, or as many as it takes for none to have more than `maxLength` positions or `maxSteps` decisions, where no sequence alone has. O(tokens + positions²). */
export function packSequences<D extends Decision>(sequences: readonly Sequence<D>[], maxLength: number, maxSteps: number = MAX_STEPS): readonly Pack<D>[] {
  const trees: Tree<D>[] = [];
  for (const sequence of sequences) {
    if (sequence.decisions.length === 0) continue;
    let tree = trees.at(-1);
    const isFull = tree !== undefined && (tree.length + tree.newLength(sequence.tokens) > maxLength || tree.stepCount + sequence.decisions.length > maxSteps);
    if (tree === undefined || isFull) trees.push(tree = new Tree());
    tree.add(sequence);
  }
  return trees.map((tree) => tree.pack());
}

interface Node<D> {
  readonly token: TokenId;
  readonly children: Node<D>[];
  /** Decisions for this token, by what was allowed. */
  readonly steps: { readonly allowed: Int32Array; readonly decisions: D[] }[];
}

class Tree<D extends Decision> {
  readonly #roots: Node<D>[] = [];
  /** Positions. */
  length = 0;
  stepCount = 0;

  /** Positions that a sequence would add. */
  newLength(tokens: readonly TokenId[]): number {
    let nodes: readonly Node<D>[] = this.#roots;
    for (const [index, token] of tokens.entries()) {
      const node = nodes.find((child) => child.token === token);
      if (node === undefined) return tokens.length - index;
      nodes = node.children;
    }
    return 0;
  }

  add({ tokens, decisions }: Sequence<D>): void {
    const path: Node<D>[] = [];
    let nodes = this.#roots;
    for (const token of tokens) {
      let node = nodes.find((child) => child.token === token);
      if (node === undefined) {
        node = { token, children: [], steps: [] };
        nodes.push(node);
        this.length += 1;
      }
      path.push(node);
      nodes = node.children;
    }
    for (const decision of decisions) {
      const { steps } = path[decision.index]!;
      const same = steps.find(({ allowed }) => isEqual(allowed, decision.allowed));
      if (same !== undefined) {
        same.decisions.push(decision);
        continue;
      }
      steps.push({ allowed: decision.allowed, decisions: [decision] });
      this.stepCount += 1;
    }
  }

  pack(): Pack<D> {
    const segments: Segment[] = [];
    const decisions: D[][] = [];
    const visit = (first: Node<D>, after: number | undefined): void => {
      const nodes = [first];
      while (nodes.at(-1)!.children.length === 1) nodes.push(nodes.at(-1)!.children[0]!);
      const steps = nodes.flatMap((node, index) => node.steps.map(({ allowed }) => ({ index, allowed, weight: 0 })));
      decisions.push(...nodes.flatMap((node) => node.steps.map((step) => step.decisions)));
      const own = segments.push({ tokens: nodes.map(({ token }) => token), steps, ...(after === undefined ? {} : { after }) }) - 1;
      for (const child of nodes.at(-1)!.children) visit(child, own);
    };
    for (const root of this.#roots) visit(root, undefined);
    return { batch: packSegments(segments), decisions };
  }
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
