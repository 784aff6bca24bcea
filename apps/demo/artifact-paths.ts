/** For `vite.config.ts`: Node reads that file before any TypeScript of a package can be read, so this one goes through Vite's own loader. */
export { DEFAULT_ADAPTER_FOLDER, modelPath } from '@contractrl/runtime-webgpu/node';
