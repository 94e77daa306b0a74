import type { Options } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { addLengthKeywords } from './length-keywords.ts';

/** The plug-in is CommonJS: its function is under `default`, both for the compiler and at run time. */
const addFormats = formatsPlugin.default;

/** The direction of a body, which decides the properties it may have. */
export type Direction = 'request' | 'response' | 'parameters';

/** Keywords of OpenAPI and our own that schemas may use; ajv's strict mode rejects unknown ones. */
export const SCHEMA_VOCABULARY = ['example', 'externalDocs', 'xml', 'x-secret'];

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  allowUnionTypes: true,
  // A schema that is used in several places is compiled once, which halves the time of the largest validator.
  inlineRefs: false,
};

/**
 * Builds the validator factory of one direction. `readOnly` properties are rejected in requests and `writeOnly` ones in
 * responses, which JSON Schema itself only annotates: a client cannot set them, and a handler cannot leak them.
 *
 * @param errors whether validation ends at the first error; finding all of them takes time for each
 */
export function createAjv(direction: Direction, errors: 'first' | 'all'): Ajv2020 {
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors: errors === 'all',
    // Errors then carry the schema that they come from, which names the allowed fields.
    verbose: true,
    coerceTypes: direction === 'parameters',
    // A text such as 1e1000 becomes Infinity, whose bounds ajv would skip.
    strictNumbers: direction !== 'parameters',
    useDefaults: direction !== 'response',
    // The contract is checked when it is generated. Without this check and the optimizer, whose work V8 does anyway, the first request
    // of an operation compiles its validator in a third of the time.
    validateSchema: false,
    code: { optimize: false },
  });
  addFormats(ajv);
  // The server writes the times in responses itself, so a check of their format is enough.
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
