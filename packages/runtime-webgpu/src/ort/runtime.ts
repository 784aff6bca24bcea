/**
 * The part of ONNX Runtime's JavaScript interface that is used here. `onnxruntime-node` and `onnxruntime-web` both satisfy it, so the engine
 * takes either as a value and imports neither.
 */
import type { InferenceSessionFactory, TensorConstructor } from 'onnxruntime-node';

export interface OrtRuntime {
  readonly InferenceSession: InferenceSessionFactory;
  readonly Tensor: TensorConstructor;
}
