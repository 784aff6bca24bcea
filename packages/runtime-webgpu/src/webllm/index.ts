/** WebLLM (`@mlc-ai/web-llm`, the application's own dependency) as an engine, in the page or in a worker. */
export { connectWebLlm, type WebLlmClient, type WebLlmWorker } from './connect.ts';
export { fetchWebLlmFiles, readWebLlmModel, type WebLlmFiles, type WebLlmModel, type WebLlmModelIssue } from './model.ts';
export type { LogitProcessor, WebLlmEngine, WebLlmFailure } from './port.ts';
export { MASKED_LOGIT } from './processor.ts';
export { createWebLlmProposer, type WebLlmParts, type WebLlmProposerOptions } from './proposer.ts';
export type { FromWebLlm, LoadReport, OpenedWebLlm, OpenParams, ToWebLlm } from './protocol.ts';
export { serveWebLlm, type ServeOptions, type WebLlmScope } from './serve.ts';
export { openWebLlm, type WebLlmSession } from './session.ts';
