import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import formatVocabulary from 'ajv/dist/vocabularies/format/format.js';
import formats from 'ajv-formats';
import { FILE_FORMAT } from './file-input.ts';
import { createPatternEngine } from './schema-patterns.ts';
import { uniqueItems } from './unique-items.ts';

/** Longer texts are rejected by the formats `url` and `regex`. */
const MAX_FORMAT_LENGTH = 8192;

/**
 * Options for the schemas of MCP servers. Unsupported keywords are removed from these schemas before, so Ajv's strict
 * checks are not needed. Ajv does not fill in defaults, because the MCP server does that itself.
 */
export const NON_STRICT: Options = { strict: false, validateSchema: false, useDefaults: false, logger: false };

/**
 * Creates the compiler for schemas of tools: JSON Schema 2020-12, with defaults filled in. Validation takes time linear
 * in the size of the value. For this reason, patterns, the formats `url` and `regex`, and `uniqueItems` do not use the
 * implementations of Ajv.
 *
 * @param options of Ajv; they take precedence over the options that are set here
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
  // The regular expression of ajv-formats for `url` takes quadratic time.
  ajv.addFormat('url', { type: 'string', validate: isUrl });
  ajv.addFormat('regex', { type: 'string', validate: isRegex });
  // A file input is an object with a format, but Ajv only supports formats of texts and numbers.
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
