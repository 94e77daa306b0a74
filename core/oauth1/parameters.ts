import { encodeUnreserved } from '../tools/template.ts';

/**
 * A name and a value, both percent-encoded according to RFC 5849 §3.6. Parameters are sorted, joined and signed in this
 * form.
 */
export type Parameter = readonly [name: string, value: string];

/**
 * Encodes a parameter for signing and sending: everything except unreserved characters, as UTF-8, with capital
 * hexadecimal digits (RFC 5849 §3.6).
 */
export function parameter(name: string, value: string): Parameter {
  return [encodeUnreserved(name), encodeUnreserved(value)];
}

/**
 * Reads the parameters of a query or a form body (RFC 5849 §3.4.1.3.1). Form encoding is converted to the encoding of
 * RFC 5849 byte by byte, without decoding text: the server checks the signature with the bytes that it received, which
 * may not be valid UTF-8.
 *
 * @param encoded form-encoded, without a question mark
 */
export function readParameters(encoded: string): Parameter[] {
  return encoded
    .split('&')
    .filter((piece) => piece !== '')
    .map((piece) => {
      const at = piece.indexOf('=');
      return at === -1
        ? [recoded(piece), '']
        : ([recoded(piece.slice(0, at)), recoded(piece.slice(at + 1))] as Parameter);
    });
}

/** Sorts parameters by name and then by value, in the order of bytes, and joins them (RFC 5849 §3.4.1.3.2). */
export function normalizeParameters(parameters: readonly Parameter[]): string {
  return [...parameters]
    .sort(([name, value], [otherName, otherValue]) => order(name, otherName) || order(value, otherValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Compares code units; the encoded texts are ASCII, so this is the order of bytes. */
function order(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function recoded(component: string): string {
  return component.replaceAll('+', '%20').replace(/%([0-9A-Fa-f]{2})|./gsu, (piece, hex: string | undefined) => {
    if (hex === undefined) return encodeUnreserved(piece);
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : `%${hex.toUpperCase()}`;
  });
}
