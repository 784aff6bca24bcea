/**
 * GPT-2's spelling of bytes as printable characters: a token of a byte-level BPE is a string of such characters, one a byte.
 * Printable Latin-1 stands for itself, the other 68 bytes for U+0100 and up, in order.
 * Reference: openai/gpt-2 `src/encoder.py`, `bytes_to_unicode`.
 */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = byteOfCharacter();

function byteOfCharacter(): Map<string, number> {
  const map = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    map.set(String.fromCodePoint(isPrintable ? byte : next++), byte);
  }
  return map;
}

/** The bytes that a token spells; undefined where a character stands for no byte. */
export function tokenBytes(token: string): Uint8Array | undefined {
  const bytes = Uint8Array.from(token, (character) => BYTE_OF_CHARACTER.get(character) ?? -1);
  // A character outside the table became −1, that is 255: look only then.
  return bytes.includes(255) && Array.from(token).some((character) => !BYTE_OF_CHARACTER.has(character)) ? undefined : bytes;
}
