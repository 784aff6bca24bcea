/** UTF-8 without DOM or Node: the mask works on bytes, contracts and documents on strings. Reference: RFC 3629 §3. */

/** Encodes text without lone surrogates. */
export function toUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const codePoint = character.codePointAt(0) as number;
    if (codePoint < 0x80) bytes.push(codePoint);
    else if (codePoint < 0x800) bytes.push(0xc0 | (codePoint >> 6), 0x80 | (codePoint & 0x3f));
    else if (codePoint < 0x10000) bytes.push(0xe0 | (codePoint >> 12), 0x80 | ((codePoint >> 6) & 0x3f), 0x80 | (codePoint & 0x3f));
    else bytes.push(0xf0 | (codePoint >> 18), 0x80 | ((codePoint >> 12) & 0x3f), 0x80 | ((codePoint >> 6) & 0x3f), 0x80 | (codePoint & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** Length of the well-formed code point that starts at `offset`, or 0 where it is incomplete, overlong, a surrogate or out of range. */
function codePointLength(bytes: Uint8Array, offset: number): number {
  const lead = bytes[offset] as number;
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || offset + length > bytes.length) return 0;
  for (let index = 1; index < length; index += 1) if (((bytes[offset + index] as number) & 0xc0) !== 0x80) return 0;
  const second = bytes[offset + 1] as number;
  const isOutside = (lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f) || (lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f);
  return isOutside ? 0 : length;
}

/** Decodes the longest well-formed prefix: bytes of a character that is still incomplete are left out. */
export function fromUtf8(bytes: Uint8Array): string {
  let text = '';
  let offset = 0;
  while (offset < bytes.length) {
    const length = codePointLength(bytes, offset);
    if (length === 0) break;
    const lead = bytes[offset] as number;
    let codePoint = length === 1 ? lead : lead & (0x7f >> length);
    for (let index = 1; index < length; index += 1) codePoint = (codePoint << 6) | ((bytes[offset + index] as number) & 0x3f);
    text += String.fromCodePoint(codePoint);
    offset += length;
  }
  return text;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
