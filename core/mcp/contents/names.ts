import type { ConnectionRow } from '../../../db/store.ts';
import { isRecord } from '../../tools/pointer.ts';
import type { Content } from '../upstream/content-results.ts';

/** The prefix of every URI that our MCP servers offer. The connection's id and the third-party server's URI follow. */
const URI_PREFIX = 'valetkey://mcp/';
const URI = /^valetkey:\/\/mcp\/([A-Za-z0-9_-]{1,100})\/(.+)$/s;
/** A key id of a connection contains no dots, so the first dot ends it. */
const PROMPT = /^([^.]{1,100})\.(.+)$/s;

/**
 * Returns the URI under which a resource of a third-party MCP server is offered. Two third-party servers may use the
 * same URI, so the offered URI contains the connection's id. The third-party server's own URI is at the end and
 * unchanged, so that URI templates can be expanded.
 */
function offeredUri({ id }: Pick<ConnectionRow, 'id'>, uri: string): string {
  return `${URI_PREFIX}${id}/${uri}`;
}

/** Returns the connection's id and the third-party server's own URI; undefined if the URI does not have this form. */
export function readOfferedUri(text: string): { connectionId: string; uri: string } | undefined {
  const [, connectionId, uri] = URI.exec(text) ?? [];
  return connectionId === undefined || uri === undefined ? undefined : { connectionId, uri };
}

/** Returns the name under which a prompt is offered, which begins with the unique name of the connection. */
function offeredPrompt({ keyId }: Pick<ConnectionRow, 'keyId'>, name: string): string {
  return `${keyId}.${name}`;
}

/** Returns the connection's key id and the third-party server's own name; undefined if the name contains no dot. */
export function readOfferedPrompt(text: string): { keyId: string; name: string } | undefined {
  const [, keyId, name] = PROMPT.exec(text) ?? [];
  return keyId === undefined || name === undefined ? undefined : { keyId, name };
}

/** Returns an item of a list, or the content of a resource, with the URI or the name under which it is offered. */
export function offeredItem(connection: ConnectionRow, item: Content): Content {
  const { uri, uriTemplate, name } = item;
  if (typeof uri === 'string') return { ...item, uri: offeredUri(connection, uri) };
  if (typeof uriTemplate === 'string') return { ...item, uriTemplate: offeredUri(connection, uriTemplate) };
  return { ...item, name: offeredPrompt(connection, String(name)) };
}

/**
 * Returns a result of `resources/read` or `prompts/get` with the offered URIs in place of the third-party server's own
 * URIs.
 */
export function offeredContent(connection: ConnectionRow, { contents, messages, ...rest }: Content): Content {
  const shown = (list: unknown, show: (item: Content) => Content) => (list as Content[]).map(show);
  if (contents) return { contents: shown(contents, (item) => offeredItem(connection, item)) };
  return {
    ...rest,
    messages: shown(messages, ({ role, content }) => ({ role, content: offeredBlock(connection, content as Content) })),
  };
}

function offeredBlock(connection: ConnectionRow, block: Content): Content {
  if (block['type'] === 'resource_link') return offeredItem(connection, block);
  const { resource } = block;
  return isRecord(resource) ? { ...block, resource: offeredItem(connection, resource) } : block;
}
