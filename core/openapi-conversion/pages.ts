import { isRecord } from '../tools/pointer.ts';
import type { ToolPagination } from '../tools/tool.ts';
import type { Operation } from './operations.ts';
import type { Parameter } from './parameters.ts';
import { membersOf, type SchemaReader, typesOf } from './schema-view.ts';
import type { SuccessResponse } from './success-response.ts';

/** How a list is read page by page, and which of its parameters the tool's `cursor` replaces. */
export interface Pages {
  pagination: ToolPagination;
  /** Names of the query parameters that are no longer inputs. */
  taken: string[];
}

/** Known cursor parameters, and where responses contain the next cursor. */
const CURSORS: readonly { request: RegExp; answer: readonly string[][] }[] = [
  { request: /^page_?token$/i, answer: [['nextPageToken'], ['next_page_token'], ['meta', 'next_page_token']] },
  {
    request: /^(start_?)?cursor$/i,
    answer: [
      ['response_metadata', 'next_cursor'],
      ['next_cursor'],
      ['nextCursor'],
      ['meta', 'next_cursor'],
      ['pagination', 'next_cursor'],
    ],
  },
  {
    request: /^after$/i,
    answer: [
      ['paging', 'next', 'after'],
      ['meta', 'after_cursor'],
    ],
  },
  { request: /^next_?token$/i, answer: [['nextToken'], ['NextToken'], ['next_token']] },
];

const SIZE = /^(page_?size|per_?page|limit|count|max_?results)$/i;

/**
 * Determines how an operation returns a list page by page. An overlay (`x-tool-pagination`) takes precedence. Without
 * one, a GET operation is checked for these styles, in this order: a cursor in the response, the id of the last item, a
 * Link header, and an offset or page number with one list. Parameters alone are not enough: the described response must
 * show the paging too.
 *
 * @returns undefined if the paging is not certain, or the overlay is `false`; then the parameters stay ordinary inputs
 */
export function findPages(
  operation: Operation,
  parameters: readonly Parameter[],
  answer: SuccessResponse,
  read: SchemaReader,
): Pages | undefined {
  const overlay = operation.data['x-tool-pagination'];
  if (overlay === false) return undefined;
  if (isRecord(overlay)) return givenPages(overlay as unknown as ToolPagination);
  if (operation.method !== 'GET') return undefined;
  const query = parameters.filter(
    ({ in: place, required, deprecated }) => place === 'query' && !required && !deprecated,
  );
  return (
    cursor(query, answer, read) ??
    lastItem(query, answer, read) ??
    linkHeader(query, answer) ??
    counted(query, answer, read)
  );
}

function givenPages(pagination: ToolPagination): Pages {
  return { pagination, taken: pagination.request?.in === 'query' ? [pagination.request.name] : [] };
}

function cursor(query: readonly Parameter[], { schema }: SuccessResponse, read: SchemaReader): Pages | undefined {
  for (const { request, answer } of CURSORS) {
    const parameter = query.find(({ name }) => request.test(name));
    const path = answer.find((members) => memberAt(schema, members, read) !== undefined);
    if (!parameter || !path) continue;
    const pagination = {
      style: 'cursor',
      request: { in: 'query', name: parameter.name },
      response: { cursor: `/${path.join('/')}` },
    } as const;
    return { pagination, taken: [parameter.name] };
  }
  return undefined;
}

/** Detects paging by the id of the last item: starting_after, has_more, data. */
function lastItem(query: readonly Parameter[], { schema }: SuccessResponse, read: SchemaReader): Pages | undefined {
  const parameter = query.find(({ name }) => name === 'starting_after');
  if (
    !parameter ||
    memberAt(schema, ['has_more'], read) === undefined ||
    memberAt(schema, ['data'], read) === undefined
  )
    return undefined;
  const response = { items: '/data', item_cursor: '/id', has_more: '/has_more' };
  return {
    pagination: { style: 'cursor', request: { in: 'query', name: 'starting_after' }, response },
    taken: ['starting_after'],
  };
}

function linkHeader(query: readonly Parameter[], { headers }: SuccessResponse): Pages | undefined {
  const page = query.find(({ name }) => /^page$/i.test(name));
  return headers.has('link') && page ? { pagination: { style: 'link_header' }, taken: [page.name] } : undefined;
}

function counted(query: readonly Parameter[], { schema }: SuccessResponse, read: SchemaReader): Pages | undefined {
  const size = query.find(({ name }) => SIZE.test(name));
  const parameter = query.find(({ name }) => /^(offset|page)$/i.test(name));
  const items = onlyList(schema, read);
  if (!size || !parameter || items === undefined) return undefined;
  const style = parameter.name.toLowerCase() === 'page' ? 'page' : 'offset';
  // `page_size_input` is the parameter's name in requests here. `makeTool` replaces it by the key of the input.
  const request = { in: 'query', name: parameter.name, page_size_input: size.name } as const;
  return { pagination: { style, request, response: { items } }, taken: [parameter.name] };
}

/**
 * Returns a JSON Pointer to the only list of a response: the response itself, or its only member that is a list.
 * Returns undefined if there is no list, or more than one.
 */
function onlyList(schema: unknown, read: SchemaReader): string | undefined {
  const view = read(schema) ?? {};
  if (typesOf(view).includes('array')) return '';
  const lists = membersOf(view).filter(([, member]) => typesOf(read(member) ?? {}).includes('array'));
  const [only] = lists;
  return only && lists.length === 1 && !/[~/]/.test(only[0]) ? `/${only[0]}` : undefined;
}

function memberAt(schema: unknown, path: readonly string[], read: SchemaReader): unknown {
  let node: unknown = schema;
  for (const name of path) {
    const view = read(node);
    node = view && membersOf(view).find(([key]) => key === name)?.[1];
    if (node === undefined) return undefined;
  }
  return node;
}
