import type { ErrorPredicate } from '../connectors/provider.ts';

/** JSON Schema 2020-12 as data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export interface ToolHints {
  read_only: boolean;
  destructive: boolean;
  idempotent: boolean;
  open_world: boolean;
  reason?: string;
}

export interface ToolBody {
  format: 'json' | 'form' | 'none';
  value?: unknown;
  lists?: FormLists;
}

/** How a form writes a list: a[0]=x, a[]=x or a=x. */
export type FormLists = 'indices' | 'brackets' | 'repeat';

export interface ToolRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** RFC 6570, appended to the base address. */
  path: string;
  query?: Record<string, unknown>;
  query_input?: string;
  headers?: Record<string, unknown>;
  headers_input?: string;
  body?: ToolBody;
}

export interface ToolPagination {
  style: 'cursor' | 'page' | 'offset' | 'link_header' | 'next_url';
  request?: { in: 'query' | 'body'; name: string; first?: number; page_size_input?: string };
  response?: { cursor?: string; has_more?: string; items?: string; item_cursor?: string; total?: string };
}

export interface ToolResponse {
  select?: string;
  fields?: string[];
  max_bytes?: number;
}

/** A tool file, as catalogue/tool.schema.json describes it, with what the index adds. */
export interface Tool {
  /** Added by the index: the connector that the tool belongs to. */
  connector: string;
  /** Added by the index: the tool fits any HTTP API. */
  generic?: boolean;
  name: string;
  title: string;
  description: string;
  tags: string[];
  hints: ToolHints;
  /** Any one of these sets of scopes, each held whole. */
  scopes: string[][];
  input_schema: JsonSchema;
  output_schema: JsonSchema;
  examples: { input: Record<string, unknown>; note: string }[];
  request: ToolRequest;
  pagination?: ToolPagination;
  response?: ToolResponse;
  errors?: ErrorPredicate[];
}
