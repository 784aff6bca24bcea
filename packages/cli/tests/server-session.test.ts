/** `--server` on the real services: a scripted server answers, and its answer goes through mask, gate and exit code. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../src/exit-code.ts';
import { runtimeServices } from '../src/runtime-services.ts';
import { createTestIo, RECORD, RIGHT_PATCH, runWith } from './harness.ts';

let server: Server;
let answer = '';
let asked: Record<string, unknown> | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => { text += chunk.toString(); }).on('end', () => {
      asked = { ...(JSON.parse(text) as object), authorization: request.headers.authorization };
      response.end(JSON.stringify({ choices: [{ text: answer, finish_reason: 'stop' }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function repair(): ReturnType<typeof runWith> {
  const io = createTestIo({ stdin: JSON.stringify(RECORD), env: { CONTRACTRL_SERVER_KEY: 'secret' } });
  return runWith(['repair', '-', '--json', '--max-tokens', '99', '--server', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`], io, runtimeServices);
}

test('an answer inside the contract repairs the call', async () => {
  answer = RIGHT_PATCH;
  const { code, output } = await repair();
  expect(JSON.parse(output)).toMatchObject({ status: 'repaired' });
  expect(code).toBe(EXIT.ok);
  expect(asked).toMatchObject({ max_tokens: 99, temperature: 0, authorization: 'Bearer secret', grammar: expect.stringContaining('root ::=') as unknown });
});

test('one outside of it spends the attempts, and nothing is handed out', async () => {
  answer = `Sure! ${RIGHT_PATCH}`;
  const { code, output } = await repair();
  expect(JSON.parse(output)).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted' });
  expect(output).not.toContain('secret');
  expect(code).toBe(EXIT.notRepaired);
});
