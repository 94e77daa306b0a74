import { FileContent } from './file-content.ts';
import { isRecord } from './pointer.ts';
import { RenderBudget } from './render-budget.ts';
import { encodeUnreserved } from './template.ts';
import type { FormLists } from './tool.ts';

/**
 * Encodes a value as application/x-www-form-urlencoded pairs; nested members are written with brackets.
 *
 * @param lists the format of lists: a[0]=x, a[]=x or a=x. An item that is an object always gets an index, because
 * without it, the members of several items could not be told apart
 * @throws ApiError INVALID_TOOL_INPUT if the text exceeds the budget
 */
export function encodeForm(
  value: Readonly<Record<string, unknown>>,
  lists: FormLists = 'indices',
  budget: RenderBudget = new RenderBudget(),
): string {
  const pairs: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    for (const pair of encodePairs(name, member, lists)) {
      budget.node();
      budget.bytes(pair.length);
      pairs.push(pair);
    }
  }
  return pairs.join('&');
}

/** Encodes one parameter. A list or an object becomes several pairs, which are generated one by one. */
export function encodePairs(name: string, value: unknown, lists: FormLists): Iterable<string> {
  return pairsOf(encodeName(name), value, lists);
}

/** @param name percent-encoded */
function* pairsOf(name: string, value: unknown, lists: FormLists): Generator<string> {
  if (value === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* pairsOf(listName(name, index, item, lists), item, lists);
  } else if (isRecord(value) && !(value instanceof FileContent)) {
    for (const [key, member] of Object.entries(value)) yield* pairsOf(`${name}[${encodeName(key)}]`, member, lists);
  } else {
    yield `${name}=${value === null ? '' : encodeUnreserved(String(value))}`;
  }
}

function listName(name: string, index: number, item: unknown, lists: FormLists): string {
  if (lists === 'indices' || (typeof item === 'object' && !(item instanceof FileContent))) return `${name}[${index}]`;
  return lists === 'brackets' ? `${name}[]` : name;
}

/** Encodes a name but leaves brackets readable; form parsers accept both. */
function encodeName(name: string): string {
  return encodeUnreserved(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
}
