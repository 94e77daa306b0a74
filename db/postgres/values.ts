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

/** How the driver reads the values of a type, which it is given as text. */
export function parserOf(oid: number): Parser {
  return PARSERS.get(oid) ?? asText;
}

/** @throws RangeError beyond the integers that a number holds exactly */
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

/** Text cannot hold U+0000. */
export function toStored(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
