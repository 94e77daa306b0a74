const OIDS = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, numeric: 1700 } as const;

type Parser = (text: string) => unknown;

const PARSERS = new Map<number, Parser>([
  [OIDS.bool, (text) => text === 't'],
  [OIDS.bytea, parseBytes],
  [OIDS.int2, Number],
  [OIDS.int4, Number],
  [OIDS.int8, parseInteger],
  [OIDS.numeric, parseInteger],
]);

/** Returns the function that parses values of a type, which the driver receives as text. */
export function parserOf(oid: number): Parser {
  return PARSERS.get(oid) ?? asText;
}

/** @throws RangeError for integers that a number cannot represent exactly */
function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('the database returned a number that is not a safe integer');
  return value;
}

/** The server sends `\x` and hexadecimal digits. */
function parseBytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

function asText(text: string): string {
  return text;
}

/** PostgreSQL cannot store the character U+0000 in text. */
export function toStored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toStored);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
