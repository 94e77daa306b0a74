import type { Server, Transport } from '@modelcontextprotocol/server';
import { isRecord } from '../tools/pointer.ts';

const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const MAX_ISSUES = 5;

const EXPECTED: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/**
 * Replaces two kinds of error messages that the MCP SDK sends. For a request that does not match a schema, it sends the
 * issues (the faults that its schema library found) as JSON, with the error code of a server fault. The client receives
 * a readable sentence instead, with the code for invalid parameters. The messages of other internal errors may reveal
 * details of the server, so the client receives "Internal error" instead.
 */
export function sendPlainErrors(server: Server): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withPlainError(message), options);
    return connect(transport);
  };
}

type Message = Parameters<Transport['send']>[0];

function withPlainError(message: Message): Message {
  if (!('error' in message)) return message;
  const { error } = message;
  const text = messageOfIssues(error.message);
  if (text !== undefined) return { ...message, error: { code: INVALID_PARAMS, message: text } };
  if (error.code !== INTERNAL_ERROR) return message;
  return { ...message, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
}

/**
 * Returns a sentence for a message that ends with a JSON list of schema issues.
 *
 * @returns undefined for any other message
 */
function messageOfIssues(message: string): string | undefined {
  const start = message.indexOf('[');
  if (start < 0 || !message.endsWith(']')) return undefined;
  try {
    const issues: unknown = JSON.parse(message.slice(start));
    if (!Array.isArray(issues) || !issues.every((issue) => isRecord(issue) && Array.isArray(issue['path'])))
      return undefined;
    const text = issues.slice(0, MAX_ISSUES).map(issueInWords);
    return `Invalid message: ${text.join('; ')}`;
  } catch {
    return undefined;
  }
}

function issueInWords({ path, expected, message }: Record<string, unknown>): string {
  const place = (path as unknown[]).map(String).join('.') || 'the message';
  const wanted = EXPECTED[String(expected)];
  if (wanted === undefined) return `${place} is invalid`;
  return /received undefined$/.test(String(message)) ? `${place} is required` : `${place} must be ${wanted}`;
}
