import type { Audit } from '../../core/capabilities/audit.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentAuditEvent } from '../../core/present/audit-event.ts';
import { timeOf } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const listAuditEvents: Handler<'listAuditEvents', Audit> = async (call, reply, { store, sealedTokens, now }) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listAuditEvents', filters };
  const page = await store.read.audit.list(environmentId, readPage(sealedTokens, scope, token, size), {
    actor: filters.actor,
    action: filters.action,
    subjectId: filters.subject_id,
    createdFrom: timeOf(filters.created_from),
    createdBefore: timeOf(filters.created_before),
  });
  return reply(200, {
    audit_events: page.rows.map(presentAuditEvent),
    ...pageTokens(sealedTokens, scope, page, now()),
    ...totalSize(page),
  });
};
