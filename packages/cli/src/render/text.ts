/** Text from outside on its way to a terminal. */
/** Control characters and those that reorder text could repaint the terminal or hide what a call really says; they are shown escaped. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function toSafeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `value` is JSON data. */
export function toSafeJson(value: unknown, indent?: number): string {
  return toSafeText(JSON.stringify(value, null, indent));
}

/** Call texts can be megabytes long; a person reads the beginning. */
const SHOWN_CHARACTERS = 4_000;

export function shorten(text: string, limit: number = SHOWN_CHARACTERS): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${(text.length - limit).toLocaleString('en-US')} more characters)`;
}

/** Milliseconds for people: "740 ms", "3.2 s". */
export function formatMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
