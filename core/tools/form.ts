import { FileContent } from './file-content.ts';
import { isRecord } from './pointer.ts';
import { encodeUnreserved } from './template.ts';
import type { FormLists } from './tool.ts';

/**
 * Encodes a value as application/x-www-form-urlencoded pairs; nested members are written with brackets.
 *
 * @param lists how a list is written: a[0]=x, a[]=x or a=x (a list of objects always has indices, else its members
 *   could not be told apart)
 */
export function encodeForm(value: Readonly<Record<string, unknown>>, lists: FormLists = 'indices'): string {
  return Object.entries(value)
    .flatMap(([name, member]) => encodePairs(name, member, lists))
    .join('&');
}

/** One parameter, which becomes several pairs when its value is a list or an object. */
export function encodePairs(name: string, value: unknown, lists: FormLists): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => encodePairs(listName(name, index, item, lists), item, lists));
  }
  if (isRecord(value) && !(value instanceof FileContent)) {
    return Object.entries(value).flatMap(([key, member]) => encodePairs(`${name}[${key}]`, member, lists));
  }
  return [`${encodeName(name)}=${value === null ? '' : encodeUnreserved(String(value))}`];
}

function listName(name: string, index: number, item: unknown, lists: FormLists): string {
  if (lists === 'indices' || (typeof item === 'object' && !(item instanceof FileContent))) return `${name}[${index}]`;
  return lists === 'brackets' ? `${name}[]` : name;
}

/** Brackets of a name stay readable: every form parser takes both forms. */
function encodeName(name: string): string {
  return encodeUnreserved(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
}
