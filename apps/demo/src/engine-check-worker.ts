/** The entry of a worker that tests one engine. */
import { serveEngineChecks } from '@contractrl/runtime-webgpu/web';

serveEngineChecks();
