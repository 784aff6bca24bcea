/** SHA-256 through WebCrypto, which Node and browsers share; several times faster than JavaScript on a file of 100 MB. */
import type { Digest } from '@contractrl/core';

/** Lower-case hexadecimal SHA-256 of `bytes`. */
export async function sha256(bytes: Uint8Array): Promise<Digest> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') as Digest;
}
