import { exportLog } from '../../core/audit/export-log.ts';
import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Audit } from '../../core/capabilities/audit.ts';
import type { Handler } from '../../http/contract.ts';

export const exportAuditEvents: Handler<'exportAuditEvents', Audit> = (call, reply, { store, logPlaces }) =>
  reply(200, new StreamedBody((signal) => exportLog(store.read, logPlaces, call.environment.id, signal)), {
    'content-type': 'application/jsonl',
    'content-disposition': 'attachment; filename="audit.jsonl"',
  });
