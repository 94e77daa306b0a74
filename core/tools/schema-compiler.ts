import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import formatVocabulary from 'ajv/dist/vocabularies/format/format.js';
import formats from 'ajv-formats';
import { FILE_FORMAT } from './file-input.ts';
import { createPatternEngine } from './schema-patterns.ts';
import { uniqueItems } from './unique-items.ts';

/** Addresses and expressions longer than this fit no format. */
const MAX_FORMAT_LENGTH = 8192;

/**
 * Options for the schemas of MCP servers: only supported keywords are left, their style is not checked, and the server fills in
 * its defaults itself.
 */
export const LOOSE: Options = { strict: false, validateSchema: false, useDefaults: false, logger: false };

/**
 * The compiler of the schemas of tools: JSON Schema 2020-12, defaults filled in. Its time is bounded by schema and value: patterns,
 * formats and `uniqueItems` run in linear time.
 *
 * @param options of ajv, beside those that every schema of a tool is compiled with
 */
export function schemaCompiler({ code } = createPatternEngine(), options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    useDefaults: true,
    code,
    ...options,
  });
  formats.default(ajv);
  // The expression of the library takes quadratic time.
  ajv.addFormat('url', { type: 'string', validate: isUrl });
  ajv.addFormat('regex', { type: 'string', validate: isRegex });
  // A file input is an object with a format; the library knows formats of texts and numbers alone.
  ajv.removeKeyword('format');
  ajv.addKeyword({ ...formatVocabulary.default, type: ['string', 'number', 'object'] });
  ajv.addFormat(FILE_FORMAT, true);
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword(uniqueItems);
  return ajv;
}

function isUrl(text: string): boolean {
  return text.length <= MAX_FORMAT_LENGTH && /^(?:https?|ftp):\/\/[^\s]/i.test(text) && URL.canParse(text);
}

function isRegex(text: string): boolean {
  if (text.length > MAX_FORMAT_LENGTH) return false;
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
