/** The worker's entry: everything heavy happens here, so that the page stays responsive. */
import { serveRepairWorker } from '@contractrl/runtime-webgpu/web';

serveRepairWorker();
