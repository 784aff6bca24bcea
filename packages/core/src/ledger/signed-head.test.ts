import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { digestOfText } from '../json/digest.ts';
import { formatHead, headBytes, readHead, signHead, verifySignedHead } from './signed-head.ts';

const HEAD = { count: 12, head: digestOfText('row 11') };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signer = (bytes: Uint8Array): Promise<Uint8Array> => Promise.resolve(sign(null, bytes, privateKey));
const verifier = (signature: Uint8Array, bytes: Uint8Array): Promise<boolean> => Promise.resolve(verify(null, bytes, publicKey, signature));

describe('a signed head', () => {
  test('is written, read and found right', async () => {
    const signed = await signHead(HEAD, signer);
    const read = readHead(formatHead(signed));
    expect(read).toEqual({ ok: true, value: signed });
    expect(await verifySignedHead(signed, verifier)).toMatchObject({ ok: true, value: HEAD });
  });

  test('is found right by WebCrypto too', async () => {
    const { signature } = await signHead(HEAD, signer);
    const key = await crypto.subtle.importKey('raw', Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'), 'Ed25519', false, ['verify']);
    const isRight = await crypto.subtle.verify('Ed25519', key, Buffer.from(signature, 'hex'), headBytes(HEAD) as Uint8Array<ArrayBuffer>);
    expect(isRight).toBe(true);
  });

  test.each<[string, Partial<typeof HEAD>]>([['another count', { count: 11 }], ['another digest', { head: digestOfText('x') }]])('with %s is not right', async (_, change) => {
    const signed = await signHead(HEAD, signer);
    expect(await verifySignedHead({ ...signed, ...change }, verifier)).toEqual({ ok: false, error: { code: 'head/bad-signature' } });
  });

  test('is asked for where a head is not signed', async () => {
    expect(await verifySignedHead(HEAD, verifier)).toEqual({ ok: false, error: { code: 'head/not-signed' } });
  });

  test('signs bytes that name their purpose', () => {
    expect(new TextDecoder().decode(headBytes(HEAD))).toBe(`{"count":12,"head":"${HEAD.head}","purpose":"contractrl ledger head","version":1}`);
  });
});

describe('a head file', () => {
  test('may be what `ledger verify --json` printed', () => {
    expect(readHead(JSON.stringify({ ok: true, ...HEAD }))).toEqual({ ok: true, value: HEAD });
  });

  test('may be of an empty ledger', () => {
    expect(readHead(JSON.stringify({ ...HEAD, count: 0 }))).toEqual({ ok: true, value: { ...HEAD, count: 0 } });
  });

  test.each<[string, string, string]>([
    ['no JSON', 'head', 'json/syntax'],
    ['a list', '[]', 'not an object'],
    ['a count below zero', JSON.stringify({ ...HEAD, count: -1 }), 'count'],
    ['no count', JSON.stringify({ head: HEAD.head }), 'count'],
    ['a digest in capitals', JSON.stringify({ ...HEAD, head: HEAD.head.toUpperCase().replace(/[0-9]/gu, 'A') }), 'head'],
    ['a count that is a text', JSON.stringify({ ...HEAD, count: '12' }), 'count'],
    ['a count that is no whole number', JSON.stringify({ ...HEAD, count: 1.5 }), 'count'],
    ['a digest that is no text', JSON.stringify({ ...HEAD, head: 7 }), 'head'],
    ['a list around its digest', JSON.stringify({ ...HEAD, head: [HEAD.head] }), 'head'],
    ['a digit before its digest', JSON.stringify({ ...HEAD, head: `0${HEAD.head}` }), 'head'],
    ['a digit behind its digest', JSON.stringify({ ...HEAD, head: `${HEAD.head}0` }), 'head'],
    ['an algorithm without a signature', JSON.stringify({ ...HEAD, algorithm: 'Ed25519' }), 'signature'],
    ['another algorithm and no signature', JSON.stringify({ ...HEAD, algorithm: 'none' }), 'algorithm'],
    ['a list around its signature', JSON.stringify({ ...HEAD, algorithm: 'Ed25519', signature: ['ab'.repeat(64)] }), 'signature'],
    ['a digit before its signature', JSON.stringify({ ...HEAD, algorithm: 'Ed25519', signature: `0${'ab'.repeat(64)}` }), 'signature'],
    ['a digit behind its signature', JSON.stringify({ ...HEAD, algorithm: 'Ed25519', signature: `${'ab'.repeat(64)}0` }), 'signature'],
    ['another algorithm', JSON.stringify({ ...HEAD, algorithm: 'none', signature: '' }), 'algorithm'],
    ['a signature without its algorithm', JSON.stringify({ ...HEAD, signature: 'ab'.repeat(64) }), 'algorithm'],
    ['a short signature', JSON.stringify({ ...HEAD, algorithm: 'Ed25519', signature: 'ab' }), 'signature'],
  ])('with %s is refused', (_, text, detail) => {
    expect(readHead(text)).toMatchObject({ ok: false, error: { code: 'head/bad-file', detail: expect.stringContaining(detail) as string } });
  });
});
