/** Contracts from the definitions that a program already has, contracts of whole toolsets, and failed calls in the forms of providers. */
export { contractFromAnthropic, contractFromJsonSchema, contractFromMcp, contractFromOpenAi } from './contract-sources/tool-definitions.ts';
export { checkFromStandardSchema, contractFromStandardSchema, type StandardSchema, type StandardSchemaOptions } from './contract-sources/standard-schema.ts';
export { callFromAnthropic, callFromMcp, callFromOpenAi, toAnthropic, toMcp, toOpenAi, type WireCall } from './contract-sources/call-forms.ts';
export { inheritContract, loadContracts, type LoadedToolset, type Toolset } from './contract-sources/toolset.ts';
export { formatSource } from './contract-sources/format.ts';
export type { SourcedContract, SourceIssue, SourceNote, SourceOptions } from './contract-sources/source.ts';
