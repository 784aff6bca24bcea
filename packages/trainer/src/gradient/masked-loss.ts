/**
 * The loss of the steps that had a choice: `−Σ weight · log p(target)`, with p the softmax over the ids that the mask allowed there. Tokens that were
 * forced are no steps and so carry none. Weights 1 / n make it supervised training, advantages a policy gradient.
 * By the logits it is `weight · (p − 1 at the target)`.
 */
import type { GraphBuilder } from '@contractrl/runtime-webgpu/onnx';
import { ALLOWED, HEAD_ROWS, LOG_PROBABILITIES, LOSS, STEP_WEIGHTS, TARGET_ROWS } from './names.ts';
import { product, reshape } from './operators.ts';

export interface MaskedLoss {
  /** Of all head rows, `[m, u]`. */
  readonly logProbabilities: string;
  /** Of the targets, `[m, 1]`. */
  readonly chosen: string;
}

/** Logits that are not allowed: low enough that a softmax gives exactly 0, and finite, so that 0 times it is 0. */
const HIDDEN_LOGIT = -1e30;

/** TensorProto.DataType. */
const BOOL = 9;

const AXIS_OF_ROWS = { attributes: { axis: { int: 1 } } };

/** From the final states of the steps' positions, `[m, hiddenSize]`; declares {@link LOSS} and {@link LOG_PROBABILITIES} as outputs. */
export function addMaskedLoss(graph: GraphBuilder, hidden: string): MaskedLoss {
  const logits = product(graph, hidden, HEAD_ROWS, 'head.logits', { transposeB: true });
  const isAllowed = graph.node('Cast', [ALLOWED], 'head.is_allowed', { attributes: { to: { int: BOOL } } });
  const masked = graph.node('Where', [isAllowed, logits, graph.float(HIDDEN_LOGIT)], 'head.masked');
  const logProbabilities = graph.node('LogSoftmax', [masked], 'head.log_probabilities', AXIS_OF_ROWS);
  const chosen = graph.node('GatherElements', [logProbabilities, TARGET_ROWS], 'head.chosen', AXIS_OF_ROWS);
  graph.output(reshape(graph, chosen, [-1], LOG_PROBABILITIES), 'float32', ['m']);
  const weighted = graph.node('Mul', [LOG_PROBABILITIES, STEP_WEIGHTS], 'head.weighted');
  const total = graph.node('ReduceSum', [weighted], 'head.total', { attributes: { keepdims: { int: 0 } } });
  graph.output(graph.node('Neg', [total], LOSS), 'float32', []);
  return { logProbabilities, chosen };
}

/** The derivative by the final states. */
export function addMaskedLossBackward(graph: GraphBuilder, { logProbabilities, chosen }: MaskedLoss): string {
  const weights = reshape(graph, STEP_WEIGHTS, [-1, 1], 'head.backward.weights');
  const exp = (x: string, output: string): string => graph.node('Exp', [x], `head.backward.${output}`);
  const multiply = (a: string, b: string, output: string): string => graph.node('Mul', [a, b], `head.backward.${output}`);
  const others = multiply(exp(logProbabilities, 'probabilities'), weights, 'others');
  const less = graph.node('Sub', [exp(chosen, 'chosen'), graph.float(1)], 'head.backward.less');
  const dLogits = graph.node('ScatterElements', [others, TARGET_ROWS, multiply(less, weights, 'target')], 'head.backward.logits', AXIS_OF_ROWS);
  return product(graph, dLogits, HEAD_ROWS, 'head.backward.hidden');
}
