/** Where the bundler put ONNX Runtime's three builds. Naming them downloads nothing: each is fetched by the engine that uses it. */
import type { EngineRuntimes } from '@contractrl/runtime-webgpu/web';
import asyncifyScript from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import asyncifyBinary from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import jspiScript from 'onnxruntime-web/ort-wasm-simd-threaded.jspi.mjs?url';
import jspiBinary from 'onnxruntime-web/ort-wasm-simd-threaded.jspi.wasm?url';
import wasmScript from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmBinary from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';

const absolute = (path: string): string => new URL(path, location.href).href;

export const RUNTIMES: EngineRuntimes = {
  wasm: { mjs: absolute(wasmScript), wasm: absolute(wasmBinary) },
  jspi: { mjs: absolute(jspiScript), wasm: absolute(jspiBinary) },
  asyncify: { mjs: absolute(asyncifyScript), wasm: absolute(asyncifyBinary) },
};
