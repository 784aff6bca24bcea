/**
 * What training takes of memory, told from the model's shape before anything is built. Weights are highest while the graph loads: what is dequantised, and
 * what ONNX Runtime lays out of it for the product of each pass. Then come the activations, which the backward pass needs and which are kept of all layers,
 * among them the shares of attention, which grow with the square of the path.
 */
import { LINEAR_NAMES, type GgufModel, type ModelConfig } from '@contractrl/runtime-webgpu';
import { HEAD, linearShape } from '@contractrl/runtime-webgpu/onnx';

/** SmolLM2-135M was seen to take 13 to 14 while it loads, and 8 once it has. */
const [LOADING_BYTES, LOADED_BYTES] = [16, 8];
const FLOAT_BYTES = 4;

/**
 * Bytes at the highest point of a run with a path of `contextLength` positions, beside the model itself and what the process has anyway. Of SmolLM2-135M
 * 3.4 GB with 1,024 positions, where 3.4 were seen.
 */
export function trainingMemoryBytes({ config, vocabularySize, tensors }: Pick<GgufModel, 'config' | 'vocabularySize' | 'tensors'>, contextLength: number): number {
  const tableBytes = FLOAT_BYTES * vocabularySize * config.hiddenSize * (tensors.has(HEAD) ? 2 : 1);
  const weights = config.layerCount * LINEAR_NAMES.map((linear) => linearShape(config, linear)).reduce((sum, { inputSize, outputSize }) => sum + inputSize * outputSize, 0);
  const activationBytes = FLOAT_BYTES * config.layerCount * keptOfLayer(config, contextLength);
  return tableBytes + Math.max(LOADING_BYTES * weights, LOADED_BYTES * weights + activationBytes);
}

/** Numbers that one layer keeps for the backward pass: residual sums, norms and their inputs; queries, keys, values and what they attend to; the gated unit. */
function keptOfLayer({ hiddenSize, feedForwardSize, headCount, kvHeadCount, headSize }: ModelConfig, positionCount: number): number {
  const ofPosition = 5 * hiddenSize + (3 * headCount + 2 * kvHeadCount) * headSize + 4 * feedForwardSize;
  return positionCount * ofPosition + headCount * positionCount * positionCount;
}
