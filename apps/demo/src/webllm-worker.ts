/** The entry of a worker that runs WebLLM: tells the page which models the library offers, then serves repairs. */
import { MLCEngine, prebuiltAppConfig } from '@mlc-ai/web-llm';
import { serveWebLlm, type WebLlmScope } from '@contractrl/runtime-webgpu/webllm';

/** The library's declarations are not written for this module resolution. */
const records = prebuiltAppConfig.model_list as readonly { readonly model_id: string; readonly model: string; readonly vram_required_MB?: number }[];
const scope = globalThis as unknown as WebLlmScope & { postMessage(message: WebLlmModels): void };

/** The first message. */
export interface WebLlmModels {
  readonly models: readonly { readonly modelId: string; readonly modelUrl: string; readonly memoryMb: number | undefined }[];
}

serveWebLlm(scope, (onProgress) => new MLCEngine({ initProgressCallback: onProgress }));
scope.postMessage({ models: records.map(({ model_id: modelId, model: modelUrl, vram_required_MB: memoryMb }) => ({ modelId, modelUrl, memoryMb })) });
