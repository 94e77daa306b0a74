import { MCP_UPSTREAM } from '../../budgets.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/**
 * Parses a message. Its nodes and levels are counted in the text first: a parser makes an object of every few bytes, which takes more
 * time and memory than the text itself.
 *
 * @throws MessageLimitError, MessageFormatError
 */
export function parseMessage(text: string): unknown {
  assertBounded(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new MessageFormatError('The MCP server sent a message that is not JSON.');
  }
}

function assertBounded(text: string): void {
  let nodes = 1;
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x2c) nodes++;
    else if (char === 0x7b || char === 0x5b) {
      nodes++;
      if (++level > MCP_UPSTREAM.messageLevels) throw new MessageLimitError('levels');
    } else if (char === 0x7d || char === 0x5d) level--;
  }
  if (nodes > MCP_UPSTREAM.messageNodes) throw new MessageLimitError('nodes');
}

/** Where the string ends that begins here; the end of the text when it never does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
