import { REQUEST_BODY } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';

/**
 * Parses JSON strictly: texts that parsers could interpret differently are rejected. In addition to RFC 8259, it
 * rejects duplicate keys, integers beyond 2^53 - 1, numbers that are too large for a double, lone surrogates, a byte
 * order mark, invalid UTF-8, nesting deeper than 32 and more than 200,000 values. Nesting and values are counted while
 * scanning, before any object is created.
 *
 * @throws ApiError MALFORMED_BODY
 */
export function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError('MALFORMED_BODY', 'The body is not valid UTF-8.', { cause });
  }
  inspectStructure(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('MALFORMED_BODY', 'The body is not valid JSON.', { cause });
  }
}

/** Scans the text once. Invalid JSON is left for JSON.parse to reject. */
function inspectStructure(text: string): void {
  const keysOf: (Set<string> | null)[] = [];
  let keyExpected = false;
  let nodes = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      const end = endOfString(text, at);
      if (keyExpected) recordKey(keysOf.at(-1), text.slice(at, end + 1), at);
      else checkEscapes(text.slice(at, end + 1), at);
      keyExpected = false;
      at = end;
    } else if (char === 0x7b || char === 0x5b) {
      keysOf.push(char === 0x7b ? new Set() : null);
      nodes = countNode(nodes);
      if (keysOf.length > REQUEST_BODY.levels) {
        throw new ApiError('MALFORMED_BODY', `The body is nested deeper than ${REQUEST_BODY.levels} levels.`);
      }
      keyExpected = char === 0x7b;
    } else if (char === 0x7d || char === 0x5d) {
      keysOf.pop();
      keyExpected = false;
    } else if (char === 0x2c) {
      keyExpected = keysOf.at(-1) instanceof Set;
      nodes = countNode(nodes);
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      at = checkNumber(text, at);
    }
  }
}

/**
 * Counts one value. It is called for each opening bracket and each comma, because every value except the root follows
 * one of these.
 */
function countNode(nodes: number): number {
  if (nodes === REQUEST_BODY.nodes) {
    throw new ApiError('MALFORMED_BODY', `The body has more than ${REQUEST_BODY.nodes} values.`);
  }
  return nodes + 1;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  return text.length;
}

function recordKey(keys: Set<string> | null | undefined, quoted: string, at: number): void {
  const key = checkEscapes(quoted, at);
  if (!keys) return;
  if (keys.has(key))
    throw new ApiError('MALFORMED_BODY', `The body has an object with a duplicate key, at character ${at + 1}.`);
  keys.add(key);
}

/**
 * Returns the content of a quoted key or string, with its escapes resolved, so that two spellings of a key are equal. A
 * lone surrogate is rejected, because it has no UTF-8 form.
 *
 * @param at the position of the text in the body
 */
function checkEscapes(quoted: string, at: number): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  let value: string;
  try {
    value = JSON.parse(quoted);
  } catch (cause) {
    throw new ApiError('MALFORMED_BODY', 'The body is not valid JSON.', { cause });
  }
  if (!value.isWellFormed())
    throw new ApiError(
      'MALFORMED_BODY',
      `The string at character ${at + 1} of the body is not valid Unicode: it has a lone surrogate.`,
    );
  return value;
}

const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;

function checkNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  const match = NUMBER.exec(text);
  if (!match) return start;
  const value = Number(match[0]);
  const isInteger = match[1] === undefined && match[2] === undefined;
  if (!Number.isFinite(value) || (isInteger && !Number.isSafeInteger(value))) {
    const number = match[0].slice(0, 40);
    const advice = 'Send large numbers as strings.';
    throw new ApiError('MALFORMED_BODY', `The body contains a number out of range: ${number}. ${advice}`);
  }
  return start + match[0].length - 1;
}
