import type { Options } from 'ajv';
import { _ } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { REQUEST_FORMATS, RESPONSE_FORMATS } from '../http/validation/formats.ts';
import { addLengthKeywords } from './length-keywords.ts';

/** The kind of data that a schema validates; it determines which properties are allowed. */
export type Direction = 'request' | 'response' | 'parameters';

/** Keywords of OpenAPI and of this project that schemas may use; Ajv's strict mode rejects unknown ones. */
const SCHEMA_VOCABULARY = ['example', 'externalDocs', 'xml', 'x-secret'];

const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: true,
  allowUnionTypes: true,
  // A schema that is used in several places is compiled once, which halves the size of the code.
  inlineRefs: false,
  // Not needed: `make generate` checks the contract with the project's rules, and `make check` with two linters.
  validateSchema: false,
};

/**
 * Creates the Ajv instance that generates the validators of one direction. `readOnly` properties are rejected in
 * requests and `writeOnly` ones in responses, so that a client cannot set them and a handler cannot leak them. JSON
 * Schema itself treats both keywords as annotations only.
 *
 * @param errors whether validation stops at the first error; finding all errors takes more time
 */
export function createAjv(direction: Direction, errors: 'first' | 'all'): Ajv2020 {
  const isResponse = direction === 'response';
  const formats = isResponse ? _`RESPONSE_FORMATS` : _`REQUEST_FORMATS`;
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors: errors === 'all',
    // Errors then contain their schema, which names the allowed fields.
    verbose: !isResponse,
    coerceTypes: direction === 'parameters',
    // A text such as 1e1000 becomes Infinity; with strict numbers, Ajv would not check its limits.
    strictNumbers: direction !== 'parameters',
    useDefaults: !isResponse,
    formats: isResponse ? RESPONSE_FORMATS : REQUEST_FORMATS,
    code: { source: true, formats: _`require("../../http/validation/formats.ts").${formats}` },
  });
  ajv.addVocabulary(SCHEMA_VOCABULARY);
  addLengthKeywords(ajv);
  refuse(ajv, 'readOnly', direction === 'request', 'is read-only');
  refuse(ajv, 'writeOnly', isResponse, 'must not be returned');
  return ajv;
}

function refuse(ajv: Ajv2020, keyword: string, active: boolean, message: string): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    schemaType: 'boolean',
    error: { message },
    code(context) {
      if (active && context.schema === true) context.fail();
    },
  });
}
