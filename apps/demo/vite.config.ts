/**
 * Serves and builds the demo: isolation headers so that WASM threads work, and the model and adapter files as a plain static server would.
 */
import { createReadStream, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, runnerImport, type Connect, type Plugin } from 'vite';

/** Threads need shared memory, and that needs a cross-origin isolated page (HTML Living Standard, "cross-origin isolation"). */
const ISOLATION_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Sources instead of builds, and onnxruntime-web with its WASM glue as a file of its own: a thread loads that file again. */
const CONDITIONS = ['@contractrl/source', 'onnxruntime-web-use-extern-wasm', 'module', 'browser', 'development|production'];

/** Where the files lie; a model is first looked for where the environment says. */
async function findArtifacts(): Promise<ReadonlyMap<string, string>> {
  const loader = fileURLToPath(new URL('artifact-paths.ts', import.meta.url));
  const { module } = await runnerImport<typeof import('./artifact-paths.ts')>(loader, {
    environments: { inline: { resolve: { conditions: ['@contractrl/source'], noExternal: [/^@contractrl\//u] } } },
  });
  return new Map([
    ['/model/model.gguf', module.modelPath()],
    ['/adapter/adapter_config.json', join(module.DEFAULT_ADAPTER_FOLDER, 'adapter_config.json')],
    ['/adapter/adapter_model.safetensors', join(module.DEFAULT_ADAPTER_FOLDER, 'adapter_model.safetensors')],
    ['/adapter/calibration.json', join(module.DEFAULT_ADAPTER_FOLDER, 'calibration.json')],
  ]);
}

/** GET /model/model.gguf and /adapter/…: streamed, with their length, from a given byte on where one is asked for, 404 where there is no file. */
function serveArtifacts(): Plugin {
  /** Asked for once: loading the package that knows takes a second. */
  let artifacts: ReturnType<typeof findArtifacts> | undefined;
  const middleware: Connect.NextHandleFunction = (request, response, next) => {
    const [url = ''] = (request.url ?? '').split('?');
    if (!/^\/(model|adapter)\//u.test(url)) return next();
    artifacts ??= findArtifacts();
    void artifacts.then((found) => send(response, modelOverride(url) ?? found.get(url), request.headers.range)).catch(next);
  };
  return {
    name: 'contractrl-artifacts',
    configureServer: (server) => { server.middlewares.use(middleware); },
    configurePreviewServer: (server) => { server.middlewares.use(middleware); },
  };
}

/** `CONTRACTRL_MODEL` names a model file to serve instead of the one in the cache. */
function modelOverride(url: string): string | undefined {
  const told = process.env['CONTRACTRL_MODEL'];
  return url === '/model/model.gguf' && told !== '' ? told : undefined;
}

function send(response: ServerResponse, path: string | undefined, range: string | undefined): void {
  const size = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.size;
  if (path === undefined || size === undefined) {
    response.writeHead(404, ISOLATION_HEADERS).end();
    return;
  }
  const start = Number(/^bytes=(\d+)-$/u.exec(range ?? '')?.[1] ?? 0);
  const partial = start > 0 && start < size;
  response.writeHead(partial ? 206 : 200, {
    ...ISOLATION_HEADERS, 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store', 'Accept-Ranges': 'bytes',
    'Content-Length': partial ? size - start : size, ...(partial ? { 'Content-Range': `bytes ${start}-${size - 1}/${size}` } : {}),
  });
  const stream = createReadStream(path, partial ? { start } : {});
  // a page that cancels closes its connection; a file that cannot be read ends it, and the page sees a body cut short
  response.on('close', () => stream.destroy());
  stream.on('error', () => response.destroy());
  stream.pipe(response);
}

export default defineConfig({
  plugins: [serveArtifacts()],
  resolve: { conditions: CONDITIONS },
  server: { host: '127.0.0.1', headers: ISOLATION_HEADERS },
  preview: { host: '127.0.0.1', headers: ISOLATION_HEADERS },
  // entries: the worker's imports are found before the first visit, or finding them would reload the page in the middle of a load
  optimizeDeps: { exclude: ['onnxruntime-web'], entries: ['index.html', 'engines.html', 'src/repair-worker.ts', 'src/engine-check-worker.ts'] },
  worker: { format: 'es' },
  build: { target: 'es2022', rolldownOptions: { input: ['index.html', 'engines.html', 'webllm.html'] } },
});
