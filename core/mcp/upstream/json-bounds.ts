import { MCP_UPSTREAM } from '../../budgets.ts';
import { jsonExtent } from '../../tools/json-extent.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/**
 * Parses a message after checking its number of values and its levels of nesting.
 *
 * @param bytes UTF-8
 * @throws MessageLimitError if the message exceeds a limit; MessageFormatError if it is not JSON
 */
export function parseMessage(bytes: Buffer): unknown {
  const { nodes, levels } = jsonExtent(bytes);
  if (levels > MCP_UPSTREAM.messageLevels) throw new MessageLimitError('levels');
  if (nodes > MCP_UPSTREAM.messageNodes) throw new MessageLimitError('nodes');
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new MessageFormatError('The MCP server sent a message that is not JSON.');
  }
}
