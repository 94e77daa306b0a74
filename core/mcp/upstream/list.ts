import { MCP_UPSTREAM } from '../../budgets.ts';
import type { ListedPage } from './results.ts';
import type { UpstreamPlace, UpstreamSessions } from './sessions.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/**
 * Reads the tool list of an MCP server, page by page. Reading also ends if the server repeats its cursor.
 *
 * @param signal stops the reading
 * @throws errors that `upstreamFailure` interprets
 */
export async function* listUpstreamTools(
  sessions: Pick<UpstreamSessions, 'request'>,
  place: UpstreamPlace,
  signal: AbortSignal,
): AsyncGenerator<ListedPage> {
  let cursor: string | undefined;
  let bytes: number = MCP_UPSTREAM.listBytes;
  for (let pages = 0; pages < MCP_UPSTREAM.listPages; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const limits = { silenceMs: MCP_UPSTREAM.requestMs, bytes };
    const page = await sessions.request(place, { method: 'tools/list', params, signal, ...limits });
    if (page === null) throw new MessageFormatError('The MCP server returned no list of tools.');
    bytes -= page.bytes;
    if (bytes < 0) throw new MessageLimitError('bytes');
    yield page;
    if (page.nextCursor === undefined || page.nextCursor === cursor) return;
    cursor = page.nextCursor;
  }
  throw new MessageFormatError(`The MCP server lists its tools on more than ${MCP_UPSTREAM.listPages} pages.`);
}
