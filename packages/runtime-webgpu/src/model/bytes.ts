/** The same bytes as a plain `Uint8Array`. Node's `Buffer` is one too, but its `slice` does not copy: code behind this may rely on the standard one. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
