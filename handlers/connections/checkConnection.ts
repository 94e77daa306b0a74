import type { Connections } from '../../core/capabilities/connections.ts';
import { diagnose } from '../../core/connections/diagnose.ts';
import { findProvider } from '../../core/connections/providers.ts';
import { requireConnection } from '../../core/connections/require-connection.ts';
import { requireFound } from '../../core/errors.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const checkConnection: Handler<'checkConnection', Connections> = async (call, reply, connections) => {
  const { id: environmentId } = call.environment;
  const { catalogue, now, fetchFor, store } = connections;
  const connection = await requireConnection(store.read, environmentId, call.path.connection_id);
  const provider = await findProvider(store.read, catalogue, environmentId, connection.providerKey);
  const checks = await diagnose(requireFound(provider, 'The provider of the connection'), connection, {
    fetchFor: (origins) => fetchFor(environmentId, origins),
    now,
  });
  return reply(200, {
    connection_id: connection.id,
    checks: checks.map(({ what, verdict, expected, found }) => ({
      subject: what,
      verdict: VERDICTS[verdict],
      expected: oneLine(expected),
      found: oneLine(found),
    })),
    checked_at: rfc3339(now()),
  });
};

const VERDICTS = { ok: 'OK', differs: 'DIFFERS', unknown: 'UNKNOWN' } as const;

const LONGEST_TEXT = 500;

/** Line breaks could forge further lines where the text is shown, and invisible characters could reorder it. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
  return line.length <= LONGEST_TEXT ? line : `${line.slice(0, LONGEST_TEXT)}…`;
}
