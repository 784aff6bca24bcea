/**
 * String formats as patterns, for the mask: each spells texts that the judge (ajv-formats in full mode) accepts, most of them exactly those.
 * What a pattern leaves out stands beside it and in docs/limits.md; tests compare both directions with the judge.
 * References: RFC 3339 (dates, times, durations), RFC 9562 (UUID), RFC 4291 (IPv6), RFC 3986 (URI), RFC 6570 (URI templates), RFC 6901 (JSON Pointer).
 */

export interface FormatPattern {
  readonly source: string;
  /** Code points, where the format bounds them. */
  readonly maxLength?: number;
}

/** The calendar, leap years included: as the judge, year 0000 is one. */
const DATE = [
  String.raw`\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`,
  String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`,
].join('|');

const OFFSET = String.raw`(?:[zZ]|[+\-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)`;
/** Nanoseconds. The judge reads seconds as a double, to which fifteen nines behind 59 are 60. */
const FRACTION = String.raw`(?:\.\d{1,9})?`;
const CLOCK = `(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d${FRACTION}`;
/**
 * The judge takes a leap second wherever the clock reads 23:59:60 in UTC; here only where it is written in UTC. It also takes hours from 24 on
 * that an offset brings back to 23, which are no times.
 */
const LEAP = String.raw`23:59:60${FRACTION}(?:[zZ]|[+\-]00(?::?00)?)`;
const TIME = `(?:${CLOCK}${OFFSET}|${LEAP})`;
const ISO_TIME = `(?:${CLOCK}${OFFSET}?|${LEAP})`;

const DURATION_TIME = String.raw`T(?:\d+H(?:\d+M)?(?:\d+S)?|\d+M(?:\d+S)?|\d+S)`;
const DURATION_DATE = String.raw`(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)`;

const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const IPV4 = String.raw`${BYTE}(?:\.${BYTE}){3}`;

const HEX = '[0-9a-fA-F]';
const GROUP = `${HEX}{1,4}`;
/** All ways to write 128 bits, by the number of groups in front of `::`. */
const IPV6 = [
  `(?:${GROUP}:){7}(?:${GROUP}|:)`,
  ...[6, 5, 4, 3, 2, 1, 0].map((before) => {
    const head = before === 0 ? ':' : `(?:${GROUP}:){${before}}`;
    // behind six groups there is room for an IPv4 address and none for `::`
    const dotted = before === 6 ? IPV4 : `(?::${GROUP}){0,${5 - before}}:${IPV4}`;
    return `${head}(?:(?::${GROUP}){1,${7 - before}}|${dotted}|:)`;
  }),
].join('|');

const ATOM = String.raw`[a-zA-Z0-9!#$%&'*+/=?^_${'`'}{|}~\-]+`;
const LETTER_OR_DIGIT = '[a-zA-Z0-9]';
const EMAIL = String.raw`${ATOM}(?:\.${ATOM})*@(?:${LETTER_OR_DIGIT}(?:[a-zA-Z0-9\-]*${LETTER_OR_DIGIT})?\.)+${LETTER_OR_DIGIT}(?:[a-zA-Z0-9\-]*${LETTER_OR_DIGIT})?`;
const LABEL = String.raw`${LETTER_OR_DIGIT}(?:[a-zA-Z0-9\-]{0,61}${LETTER_OR_DIGIT})?`;

const LAX_BYTE = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d\d?)`;
const IPV6_IN_URI = [
  `(?:(?:${GROUP}:){6}|::(?:${GROUP}:){5}|${[0, 1, 2, 3, 4].map((before) => (
    `(?:(?:${GROUP}:){0,${before}}${GROUP})?::(?:${GROUP}:){${4 - before}}`
  )).join('|')})(?:${GROUP}:${GROUP}|${LAX_BYTE}(?:\\.${LAX_BYTE}){3})`,
  `(?:(?:${GROUP}:){0,5}${GROUP})?::${GROUP}`,
  `(?:(?:${GROUP}:){0,6}${GROUP})?::`,
].join('|');
const SCHEME = String.raw`[a-zA-Z][a-zA-Z0-9+\-.]*:`;

/** `quote` is what the judge's expression for references takes beside the characters of RFC 3986. */
function uriPattern(scheme: string, path: '' | '?', quote: '' | '"'): FormatPattern {
  const common = String.raw`a-zA-Z0-9\-._~!$&'()*+,;=`;
  const one = (characters: string): string => `(?:[${characters}]|%${HEX}{2})`;
  const segment = one(`${common}${quote}:@`);
  const segments = `(?:/${segment}*)*`;
  const literalHost = String.raw`\[(?:${IPV6_IN_URI}|[vV]${HEX}+\.[${common}:]+)\]`;
  const authority = String.raw`(?:${one(`${common}:`)}*@)?(?:${literalHost}|${one(common + quote)}*)(?::\d*)?`;
  const rest = `${one(`${common}${quote}:@/?`)}*`;
  return whole(String.raw`${scheme}(?:/?/${authority}${segments}|/(?:${segment}+${segments})?|${segment}+${segments})${path}(?:\?${rest})?(?:#${rest})?`);
}

const NAME = String.raw`[a-zA-Z0-9\u{a1}-\u{ffff}]`;
const VARIABLE = String.raw`(?:[a-zA-Z0-9_]|%${HEX}{2})+(?::[1-9]\d{0,3}|\*)?`;
const POINTER = '(?:/(?:[^~/]|~[01])*)*';

function whole(language: string): FormatPattern {
  return { source: `^(?:${language})$` };
}

/** By format name. A `Map`, so that no name finds an inherited member. */
export const FORMAT_PATTERNS: ReadonlyMap<string, FormatPattern> = new Map([
  ['date', whole(DATE)],
  ['time', whole(TIME)],
  ['date-time', whole(String.raw`(?:${DATE})[tT\s]${TIME}`)],
  ['iso-time', whole(ISO_TIME)],
  ['iso-date-time', whole(String.raw`(?:${DATE})[tT\s]${ISO_TIME}`)],
  ['duration', whole(String.raw`P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\d+W)`)],
  ['uuid', whole(`(?:[uU][rR][nN]:[uU]{2}[iI][dD]:)?${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`)],
  ['ipv4', whole(IPV4)],
  ['ipv6', whole(IPV6)],
  ['email', whole(EMAIL)],
  // the judge takes one character more where the last is a dot
  ['hostname', { ...whole(String.raw`${LABEL}(?:\.${LABEL})*\.?`), maxLength: 253 }],
  ['uri', uriPattern(SCHEME, '', '')],
  ['uri-reference', uriPattern(`(?:${SCHEME})?`, '?', '"')],
  ['uri-template', whole(String.raw`(?:[^\x00-\x20"'<>%\\^${'`'}{|}]|%${HEX}{2}|\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\})*`)],
  // the judge also takes texts of several lines of which one is this
  ['byte', whole('(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?')],
  // a named host; the judge also takes public IPv4 addresses and credentials. It counts UTF-16 units, of which a code point has at most two
  ['url', { ...whole(String.raw`(?:[hH][tT]{2}[pP][sS]?|[fF][tT][pP])://(?:${NAME}+(?:-${NAME}+)*\.)+[a-zA-Z\u{a1}-\u{ffff}]{2,}(?::\d{2,5})?(?:/[^\s]*)?`), maxLength: 4_096 }],
  ['json-pointer', whole(POINTER)],
  ['json-pointer-uri-fragment', whole(`#(?:/(?:[a-zA-Z0-9_\\-.!$&'()*+,;:=@]|%${HEX}{2}|~[01])*)*`)],
  ['relative-json-pointer', whole(`(?:0|[1-9][0-9]*)(?:#|${POINTER})`)],
]);

/** Formats that accept every text: hints for a form. */
export const FREE_FORMATS: ReadonlySet<string> = new Set(['password', 'binary']);
