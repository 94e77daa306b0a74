import type { ErrorPredicate } from '../connectors/provider.ts';

/** What raw calls are called where tools have a name: in records, in the allowed tools of a connection, as a scope. */
export const RAW_CALL = 'proxy';

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
  format: 'json' | 'form' | 'multipart' | 'raw' | 'none';
  value?: unknown;
  /** json, raw: the Content-Type; default application/json, for raw what the file says. */
  media_type?: string;
  /** form: how a list is written. */
  lists?: FormLists;
  parts?: MultipartParts;
}

/** multipart: what is said of single members. A content type with a comma or a star only says what is taken. */
export type MultipartParts = Readonly<Record<string, { content_type?: string }>>;

/** How a form writes a list: a[0]=x, a[]=x or a=x. */
export type FormLists = 'indices' | 'brackets' | 'repeat';

/** One query parameter or header of an API that says how its value is serialised, in the terms of OpenAPI. */
export interface ToolParameter {
  in: 'query' | 'header';
  /** On the wire. */
  name: string;
  /** The input that gives the value. */
  input: string;
  /** Default form in the query; a header is always simple. */
  style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'simple';
  /** Default true for form, else false. */
  explode?: boolean;
  /** Query: reserved characters that cannot end the value stay as they are. */
  allow_reserved?: boolean;
  /** The value is written in this media type instead of a style. */
  content_type?: string;
}

export interface ToolRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** RFC 6570, appended to the base address. */
  path: string;
  query?: Record<string, unknown>;
  parameters?: ToolParameter[];
  query_input?: string;
  headers?: Record<string, unknown>;
  headers_input?: string;
  body?: ToolBody;
}

export interface ToolPagination {
  style: 'cursor' | 'page' | 'offset' | 'link_header' | 'next_url';
  request?: { in: 'query' | 'body'; name: string; first?: number; page_size_input?: string; filtered?: boolean };
  response?: { cursor?: string; has_more?: string; items?: string; item_cursor?: string; total?: string };
}

export interface ToolResponse {
  select?: string;
  /** Places of base64 texts, within the selected object or each item of the selected list; they become the text they stand for. */
  base64?: string[];
  fields?: string[];
  /** The response is a file regardless of its type, or contains one as base64: pointers to it, its name and its type. */
  file?: true | { base64: string; file_name?: string; media_type?: string };
  max_bytes?: number;
}

/** What a person writes down about a tool, as catalogue/tool.schema.json describes it. */
export type ToolDefinition = Omit<Tool, 'connector' | 'generic' | 'mcp'>;

/** What a tool of an MCP server is there. */
export interface McpOrigin {
  name: string;
  /** The hash of what the server says about it. */
  pin: string;
  /** The server's names of properties by ours, where they differ. */
  names?: Readonly<Record<string, string>>;
  /** The inputs that the server wants in headers as well, by the server's names. */
  headers?: { path: string[]; header: string }[];
}

/** A tool: its definition, and where it belongs. */
export interface Tool {
  /** The identifier of the provider whose accounts run it. */
  connector: string;
  /** A tool of an MCP server. It is called by that protocol; `request` says only where. */
  mcp?: McpOrigin;
  /** The tool fits any HTTP API, so the accounts of custom providers run it too. */
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
