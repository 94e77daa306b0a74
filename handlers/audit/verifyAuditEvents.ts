import type { Audit } from '../../core/capabilities/audit.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const verifyAuditEvents: Handler<'verifyAuditEvents', Audit> = async (call, reply, { store, logPlaces }) => {
  const leave = logPlaces.take(call.environment.id);
  try {
    const { rows } = await store.read.audit.list(call.environment.id, { size: 1 });
    const until = rows[0] === undefined ? null : rfc3339(rows[0].at);
    const verdict = await store.read.audit.verifyChain(call.environment.id);
    return verdict.intact
      ? reply(200, { intact: true, entries: verdict.rows, verified_until: until, broken_at: null })
      : reply(200, { intact: false, entries: null, verified_until: null, broken_at: verdict.brokenAt });
  } finally {
    leave();
  }
};
