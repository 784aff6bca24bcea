import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { err, ok, type Result } from '@contractrl/core';
import type { Engine, KvCache } from '../engine.ts';
import type { GgufModel } from '../model/gguf.ts';
import { createOrtEngine } from '../ort/engine.ts';
import { checkConformance } from './conformance.ts';
import { selfTest } from './self-test.ts';

async function openCpu(model: GgufModel): Promise<Result<Engine, { readonly code: string }>> {
  return createOrtEngine({ ort, model, graph: { format: 'f32' }, executionProvider: 'cpu', threadCount: 1 });
}

/** An engine that is wrong in one way. */
function spoilt(engine: Engine, spoil: Partial<Engine>): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const own = spoil[name as keyof Engine] ?? target[name as keyof Engine];
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

describe('selfTest', () => {
  test('a right engine passes, and is disposed', async () => {
    let engine: Engine | undefined;
    const report = await selfTest(async (model) => {
      const opened = await openCpu(model);
      if (opened.ok) engine = opened.value;
      return opened;
    });
    expect(report).toMatchObject({ ok: true, value: { tolerance: 2e-3 } });
    expect(report.ok && report.value.maxDifference).toBeLessThan(1e-4);
    expect(await engine!.extend(engine!.emptyCache, [1])).toEqual({ ok: false, error: { code: 'engine/disposed' } });
  });

  test.each([
    {
      what: 'attention that is wrong from 32 tokens on', check: 'prefill',
      spoil: (engine: Engine): Partial<Engine> => ({ extend: (cache, tokens) => engine.extend(cache, tokens.length < 32 ? tokens : [...tokens.slice(1), tokens[0]!]) }),
    },
    {
      what: 'a decode step that forgets its cache', check: 'decode',
      spoil: (engine: Engine): Partial<Engine> => ({ extend: (cache: KvCache, tokens) => engine.extend(tokens.length === 1 ? engine.emptyCache : cache, tokens) }),
    },
    { what: 'an adapter that is not applied', check: 'adapter', spoil: (): Partial<Engine> => ({ useAdapter: () => ok(undefined) }) },
    {
      what: 'logits that are no numbers', check: 'prefill', spoil: (): Partial<Engine> => ({ logitsOf: (_hidden, _ids, out) => out.fill(NaN) }),
    },
  ])('$what is found', async ({ check, spoil }) => {
    const report = await selfTest(async (model) => {
      const opened = await openCpu(model);
      return opened.ok ? ok(spoilt(opened.value, spoil(opened.value))) : opened;
    });
    expect(report).toMatchObject({ ok: false, error: { code: 'engine/self-test-failed', check } });
  });

  test('an engine that does not open, or fails a step, says so itself', async () => {
    expect(await selfTest(() => Promise.resolve(err({ code: 'gpu/no-adapter' })))).toEqual({ ok: false, error: { code: 'gpu/no-adapter' } });
    const lost = { code: 'engine/device-lost', reason: 'unknown', detail: '' } as const;
    const report = await selfTest(async (model) => {
      const opened = await openCpu(model);
      return opened.ok ? ok(spoilt(opened.value, { extend: () => Promise.resolve(err(lost)) })) : opened;
    });
    expect(report).toEqual({ ok: false, error: lost });
  });
});

test('the suite reports every check, also where one of them throws', async () => {
  const opened = await openCpu((await import('./check-model.ts')).createCheckModel());
  if (!opened.ok) throw new Error(opened.error.code);
  const seen: string[] = [];
  const results = await checkConformance(spoilt(opened.value, { allLogits: () => { throw new Error('broken') } }), ({ name }) => seen.push(name));
  expect(seen).toEqual(results.map(({ name }) => name));
  expect(results.filter(({ fault }) => fault !== undefined).map(({ fault }) => fault)).toContain('broken');
});
