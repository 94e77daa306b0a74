import { Lexer, parseDocument } from 'yaml';
import { withoutByteOrderMark } from '../text/byte-order-mark.ts';
import { isRecord } from '../tools/pointer.ts';
import { bundle } from './bundle.ts';
import { importError } from './import-error.ts';

/** One file of a document: its name in references, and its text (JSON or YAML). */
export interface SourceFile {
  name: string;
  text: string;
}

export const LOAD_LIMITS = { bytes: 64 * 1024 * 1024, depth: 200, aliases: 100, files: 2000, marks: 5000 } as const;

/**
 * Matches the beginning of a token of the YAML lexer that is a value: a plain scalar (which the lexer marks with
 * U+001F), a quoted one, or an alias.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark is a control character
const VALUE = /^[\u001f"'*]/;
const BLANK_OR_COMMENT = /^[\s#]/;

/**
 * Reads an OpenAPI document from one file, or from a bundle of files that refer to each other. Nothing is ever fetched:
 * external references are not resolved.
 *
 * @returns the document as plain data, in which references between its files are local (`#/…`)
 * @throws ApiError INVALID_DOCUMENT if it cannot be parsed, exceeds a limit, or is not an OpenAPI document
 */
export function loadDocument(files: readonly SourceFile[]): Record<string, unknown> {
  if (files.length === 0 || files.length > LOAD_LIMITS.files) {
    throw importError('files', `must contain 1 to ${LOAD_LIMITS.files} files`);
  }
  const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > LOAD_LIMITS.bytes) throw importError('files', `must have at most ${LOAD_LIMITS.bytes} bytes in total`);
  const parsed = files.map(({ name, text }) => ({ name, data: parseText(text, name) }));
  const roots = parsed.filter(({ data }) => isRecord(data) && ('openapi' in data || 'swagger' in data));
  const [root] = roots;
  if (!root || roots.length > 1) {
    throw importError(
      'files',
      `must contain exactly one OpenAPI document, with a member openapi or swagger, not ${roots.length}`,
    );
  }
  return bundle(root as { name: string; data: Record<string, unknown> }, parsed);
}

/**
 * Parses JSON, or a safe subset of YAML: no aliases that multiply the data, and no tags that create anything other than
 * data.
 *
 * @throws ApiError INVALID_DOCUMENT
 */
export function parseText(text: string, name: string): unknown {
  const plain = withoutByteOrderMark(text);
  const value = /^\s*[{[]/.test(plain) ? (tryJson(plain) ?? parseYaml(plain, name)) : parseYaml(plain, name);
  if (isTooDeep(value)) throw importError('files', `${name}: is nested more than ${LOAD_LIMITS.depth} levels`);
  return value;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(text: string, name: string): unknown {
  checkMarks(text, name);
  try {
    const document = parseDocument(text, { uniqueKeys: false, merge: true, logLevel: 'silent', stringKeys: false });
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS({ maxAliasCount: LOAD_LIMITS.aliases });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    throw importError('files', `${name}: cannot be parsed: ${reason}`, error);
  }
}

/**
 * Rejects YAML with many consecutive brackets, dashes, anchors or tags without a value between them. They are
 * meaningless, and cost the parser much more time and memory than their length suggests.
 */
function checkMarks(text: string, name: string): void {
  let marks = 0;
  for (const token of new Lexer().lex(text)) {
    if (VALUE.test(token)) marks = 0;
    else if (!BLANK_OR_COMMENT.test(token) && ++marks > LOAD_LIMITS.marks) {
      throw importError(
        'files',
        `${name}: has more than ${LOAD_LIMITS.marks} YAML indicators in a row without a value`,
      );
    }
  }
}

/**
 * Whether a document is nested too deeply. The check visits one level after the other, so that neither a deep document
 * nor a circular alias can overflow the stack.
 */
function isTooDeep(value: unknown): boolean {
  let level: Set<unknown> = new Set([value]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > LOAD_LIMITS.depth) return true;
    const next = new Set<unknown>();
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue;
      for (const member of Object.values(node)) if (typeof member === 'object' && member !== null) next.add(member);
    }
    level = next;
  }
  return false;
}
