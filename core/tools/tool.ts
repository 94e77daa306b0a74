import type { ErrorPredicate } from '../connectors/provider.ts';

/**
 * The name used in place of a tool's name for raw calls (requests that the caller composes itself): in records, in the
 * allowed tools of a connection, and as a scope.
 */
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
  /**
   * For json and raw: the Content-Type. By default application/json for json, and for raw the type of the file, or
   * text/plain for a text. With a star, it only says which types are accepted.
   */
  media_type?: string;
  /** For form: the format of lists. */
  lists?: FormLists;
  parts?: MultipartParts;
}

/**
 * For multipart: the content types of single members. A content type with a comma or a star only says which types are
 * accepted.
 */
export type MultipartParts = Readonly<Record<string, { content_type?: string }>>;

/** The format of a list in a form: a[0]=x, a[]=x or a=x. */
export type FormLists = 'indices' | 'brackets' | 'repeat';

/** A query parameter or header whose encoding is declared as in OpenAPI. */
export interface ToolParameter {
  in: 'query' | 'header';
  /** The name in requests. */
  name: string;
  /** The input that provides the value. */
  input: string;
  /** By default `form` in the query; a header is always `simple`. */
  style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'simple';
  /** By default true for `form`, otherwise false. */
  explode?: boolean;
  /** For the query: whether reserved characters that cannot end the value are left unencoded. */
  allow_reserved?: boolean;
  /** The value is encoded in this media type instead of a style. */
  content_type?: string;
}

export interface ToolRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The origin in place of the base URL; one of the provider's `extra_origins`. */
  origin?: string;
  /** A URI template (RFC 6570) that is appended to the base URL. */
  path: string;
  query?: Record<string, unknown>;
  parameters?: ToolParameter[];
  query_input?: string;
  headers?: Record<string, unknown>;
  headers_input?: string;
  body?: ToolBody;
  /** Further requests, in order. The result of the tool is that of the last one. */
  steps?: ToolStep[];
}

/** A request that needs values of the response before it. */
export interface ToolStep extends Pick<ToolRequest, 'method' | 'query' | 'headers' | 'body'> {
  /** The values to take: JSON pointers into the body, or names of headers, by the names that templates use. */
  take: Readonly<Record<string, string>>;
  /** As in `ToolRequest`; absent if the step has an `address`. */
  path?: string;
  /** The taken value that is the whole address. The request is sent without the credential. */
  address?: string;
  /** The hosts that the address may have; their subdomains are included. */
  hosts?: string[];
  /**
   * Where the body of the previous response lists further headers to send to the address. `list` is a JSON pointer to
   * the list; `name` and `value` are JSON pointers within an entry.
   */
  headers_from?: { list: string; name: string; value: string };
}

export interface ToolPagination {
  style: 'cursor' | 'page' | 'offset' | 'link_header' | 'next_url';
  request?: { in: 'query' | 'body'; name: string; first?: number; page_size_input?: string; filtered?: boolean };
  response?: { cursor?: string; has_more?: string; items?: string; item_cursor?: string; total?: string };
}

export interface ToolResponse {
  select?: string;
  /**
   * Pointers to base64 texts that are decoded, relative to the selected object or to each item of the selected list.
   */
  base64?: string[];
  /** Pointers to HTML texts that become Markdown, in the same form as `base64`. */
  markdown?: string[];
  fields?: string[];
  /**
   * `true`: the body of the response is a file of any type. Otherwise the JSON body contains a file as base64:
   * JSON pointers to its content, its name and its type.
   */
  file?: true | { base64: string; file_name?: string; media_type?: string };
  max_bytes?: number;
  /** Which part of a text is kept if it is too long; by default its start. */
  text?: 'end';
}

/** The part of a tool that its author writes; catalogue/tool.schema.json describes it. */
export type ToolDefinition = Omit<Tool, 'connector' | 'generic' | 'mcp' | 'restriction'>;

/** How a third-party MCP server defines the tool. */
export interface McpOrigin {
  name: string;
  /** The hash of the server's definition of the tool. */
  pin: string;
  /** The server's property names, by the names used here, if they differ. */
  names?: Readonly<Record<string, string>>;
  /** The inputs that are also sent in headers, by the server's property names. */
  headers?: { path: string[]; header: string }[];
}

/**
 * How an overlay (an environment's changes to a tool) restricts a tool. The restriction is added when the tool is read,
 * and is not stored with the tool.
 */
export interface ToolRestriction {
  /** The tool's own name, also if the overlay renames the tool. Settings use this name. */
  toolName: string;
  /** The values of inputs that callers cannot set. */
  presetInputs: Readonly<Record<string, unknown>>;
  /** The schema of the whole input with the preset inputs. Callers see `input_schema`, which excludes them. */
  schema: JsonSchema;
}

/** A tool: its definition, and the provider that it belongs to. */
export interface Tool {
  /** The identifier of the provider whose accounts run it. */
  connector: string;
  /** Only for tools of MCP servers, which are called by that protocol; `request` then only contains the address. */
  mcp?: McpOrigin;
  /** Whether the tool works with any HTTP API, so that accounts of custom providers can run it too. */
  generic?: boolean;
  name: string;
  title: string;
  description: string;
  tags: string[];
  /** Words for the tool that users use, but that its name, title and description lack. Only the search uses them. */
  search_words?: string;
  hints: ToolHints;
  /** Alternative sets of scopes; an account needs all scopes of one set. */
  scopes: string[][];
  input_schema: JsonSchema;
  output_schema: JsonSchema;
  examples: { input: Record<string, unknown>; note: string }[];
  request: ToolRequest;
  pagination?: ToolPagination;
  response?: ToolResponse;
  errors?: ErrorPredicate[];
  restriction?: ToolRestriction;
}

/** Returns a tool without `connector`, `generic` and `restriction`, which its author did not write. */
export function definitionOf({
  connector: _connector,
  generic: _generic,
  restriction: _restriction,
  ...definition
}: Tool): ToolDefinition {
  return definition;
}

/** Returns the name that settings use for a tool: its own name, also if an overlay renamed it. */
export function ownNameOf({ name, restriction }: Pick<Tool, 'name' | 'restriction'>): string {
  return restriction?.toolName ?? name;
}

/** Returns the schema of the input that requests are rendered from, with preset inputs. */
export function wholeInputSchema({ input_schema: schema, restriction }: Tool): JsonSchema {
  return restriction?.schema ?? schema;
}
