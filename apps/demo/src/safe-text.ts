/** Text from tools, schemas and models on its way into the page. It is only ever set as text content, never as markup. */

/** Control characters and those that reorder text can hide what a call really says, so they are shown escaped. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function toSafeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** JSON text indented for reading; what is not JSON is shown as it came. */
export function toReadableJson(text: string): string {
  try {
    return toSafeText(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return toSafeText(text);
  }
}
