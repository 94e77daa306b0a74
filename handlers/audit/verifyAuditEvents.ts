import type { Audit } from '../../core/capabilities/audit.ts';
import type { Handler } from '../../http/contract.ts';

export const verifyAuditEvents: Handler<'verifyAuditEvents', Audit> = async (call, reply, { store, logPlaces }) => {
  const leave = logPlaces.take(call.environment.id);
  try {
    const verdict = await store.read.audit.verifyChain(call.environment.id);
    return verdict.intact
      ? reply(200, { intact: true, entries: verdict.rows, broken_at: null })
      : reply(200, { intact: false, entries: null, broken_at: verdict.brokenAt });
  } finally {
    leave();
  }
};
