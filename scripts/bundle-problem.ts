import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import type { bundle, YamlParseError } from '@redocly/openapi-core';
import { getLineColLocation } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { nearestName } from './nearest-name.ts';
import { isObject, type JsonObject } from './openapi-document.ts';

type Problem = Awaited<ReturnType<typeof bundle>>['problems'][number];

/** Describes a problem in one line: file, line, column, message, and the name that was probably meant. */
export function describeProblem({ message, location }: Pick<Problem, 'message' | 'location'>): string {
  const [place] = location;
  if (!place) return message;
  const file = place.source.absoluteRef;
  const { line, col } = getLineColLocation(place).start;
  const reference = isUnresolved(message) ? referenceAt(parse(place.source.body), place.pointer ?? '#/') : undefined;
  const text = reference === undefined ? message : `cannot resolve ${reference}${suggestion(file, reference)}`;
  return `${relative(process.cwd(), file)}:${line}:${col}: ${text}`;
}

/** Describes a YAML syntax error in one line. */
export function describeSyntaxError({ message, source, line, col }: YamlParseError): string {
  return `${relative(process.cwd(), source.absoluteRef)}:${line}:${col}: ${message.replace(/ in ".*"( \(\d+:\d+\))?$/, '')}`;
}

function isUnresolved(message: string): boolean {
  return message.startsWith("Can't resolve $ref");
}

/** Returns the `$ref` at a JSON pointer of a document. */
function referenceAt(document: unknown, pointer: string): string | undefined {
  const value = valueAt(document, pointer);
  const reference = isObject(value as JsonObject) ? (value as JsonObject)['$ref'] : undefined;
  return typeof reference === 'string' ? reference : undefined;
}

/** Returns the value at a JSON pointer of a document; undefined if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  const keys = pointer.replace(/^#?\//, '').split('/').filter(Boolean);
  return keys.reduce<unknown>(
    (value, key) => (value as JsonObject | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
}

/** Returns the most similar existing name of a file or member for a broken reference. */
function suggestion(from: string, reference: string): string {
  const [path = '', pointer = ''] = reference.split('#');
  const file = path === '' ? from : resolve(dirname(from), path);
  const names = existsSync(file) ? membersBeside(file, pointer) : filesBeside(file);
  const wrong = existsSync(file) ? (pointer.split('/').at(-1) ?? '') : basename(file);
  const meant = nearestName(wrong, names);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function membersBeside(file: string, pointer: string): string[] {
  const parent = valueAt(parse(readFileSync(file, 'utf8')), pointer.slice(0, pointer.lastIndexOf('/')));
  return isObject(parent as JsonObject) ? Object.keys(parent as JsonObject) : [];
}

function filesBeside(file: string): string[] {
  return existsSync(dirname(file)) ? readdirSync(dirname(file)) : [];
}
