import type { Options } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { addLengthKeywords } from './length-keywords.ts';

/** The plug-in is CommonJS: its function is under `default`, both for the compiler and at run time. */
const addFormats = formatsPlugin.default;

/** The kind of data that a schema validates; it determines which properties are allowed. */
export type Direction = 'request' | 'response' | 'parameters';

/** Keywords of OpenAPI and of this project that schemas may use; Ajv's strict mode rejects unknown ones. */
export const SCHEMA_VOCABULARY = ['example', 'externalDocs', 'xml', 'x-secret'];

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  allowUnionTypes: true,
  // A schema that is used in several places is compiled once, which halves the time for the largest validator.
  inlineRefs: false,
};

/**
 * Creates the Ajv instance of one direction. `readOnly` properties are rejected in requests and `writeOnly` ones in
 * responses, so that a client cannot set them and a handler cannot leak them. JSON Schema itself treats both keywords
 * as annotations only.
 *
 * @param errors whether validation stops at the first error; finding all errors takes more time
 */
export function createAjv(direction: Direction, errors: 'first' | 'all'): Ajv2020 {
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors: errors === 'all',
    // Errors then contain their schema, which names the allowed fields.
    verbose: true,
    coerceTypes: direction === 'parameters',
    // A text such as 1e1000 becomes Infinity; with strict numbers, Ajv would not check its limits.
    strictNumbers: direction !== 'parameters',
    useDefaults: direction !== 'response',
    // The contract was checked when it was generated. Without this check and without the optimizer, whose work V8 does
    // anyway, compiling a validator takes a third of the time.
    validateSchema: false,
    code: { optimize: false },
  });
  addFormats(ajv);
  // The server itself creates the times in responses, so checking their format is enough.
  if (direction === 'response') ajv.addFormat('date-time', addFormats.get('date-time', 'fast'));
  for (const bits of [32, 64]) ajv.addFormat(`int${bits}`, { type: 'number', validate: signedInteger(bits) });
  for (const name of ['float', 'double']) ajv.addFormat(name, { type: 'number', validate: Number.isFinite });
  ajv.addFormat('password', true);
  ajv.addVocabulary(SCHEMA_VOCABULARY);
  addLengthKeywords(ajv);
  refuse(ajv, 'readOnly', direction === 'request', 'is read-only');
  refuse(ajv, 'writeOnly', direction === 'response', 'must not be returned');
  return ajv;
}

function signedInteger(bits: number): (value: number) => boolean {
  const limit = 2 ** (bits - 1);
  return (value) => Number.isInteger(value) && value >= -limit && value < limit;
}

function refuse(ajv: Ajv2020, keyword: string, active: boolean, message: string): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    schemaType: 'boolean',
    error: { message },
    validate: (flag: boolean) => !(active && flag),
    errors: true,
  });
}
