/** Servers that speak the OpenAI protocol (llama.cpp, vLLM, SGLang), fed the contract as a grammar. Runs wherever `fetch` does. */
export { BYTE_VOCABULARY, checkText, type CheckedText, type OutsideLanguage } from './check-text.ts';
export { SERVER_DIALECTS, type ServerDialect } from './dialect.ts';
export type { ServerFailure } from './http.ts';
export { createServerProposer, DEFAULT_SERVER_TIMEOUT_MS, notCarriedBy, type ServerParts, type ServerProposerOptions } from './proposer.ts';
export { createServerRepairer, type ServerCallOptions, type ServerRepairer } from './repairer.ts';
