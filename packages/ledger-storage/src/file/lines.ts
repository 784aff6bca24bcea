/** The lines of an open file, read in pieces: a ledger may be larger than a string can be. */
import type { FileHandle } from 'node:fs/promises';

const LINE_FEED = 0x0a;
const PIECE_BYTES = 262_144;

export interface LineEnd {
  /** Where the line after this one begins. */
  readonly nextByte: number;
}

/**
 * Calls `take` with every line that ends in a newline, undefined where it is no UTF-8, until it gives false. Gives the number of bytes behind the
 * last newline read. `untilByte` is where the file is taken to end.
 */
export async function readLines(
  handle: FileHandle, untilByte: number, take: (line: string | undefined, end: LineEnd) => boolean, afterPiece: () => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let position = 0;
  /** The beginning of a line whose end is in a later piece. */
  let parts: Buffer[] = [];
  let partBytes = 0;
  while (position < untilByte) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE_BYTES, untilByte - position), position);
    if (bytesRead === 0) break;
    let start = 0;
    for (let feed = buffer.indexOf(LINE_FEED); feed !== -1 && feed < bytesRead; feed = buffer.indexOf(LINE_FEED, start)) {
      const line = Buffer.concat([...parts, buffer.subarray(start, feed)]);
      parts = [];
      partBytes = 0;
      start = feed + 1;
      if (!take(decode(line), { nextByte: position + start })) return 0;
    }
    const rest = Buffer.from(buffer.subarray(start, bytesRead));
    parts.push(rest);
    partBytes += rest.length;
    position += bytesRead;
    await afterPiece();
  }
  return partBytes;
}

/** Strict, and with a byte order mark kept: otherwise two different files could have the same digest. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
