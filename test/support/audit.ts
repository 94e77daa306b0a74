import type { AuditRow } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** What the audit log of the first environment tells about one subject, newest first. */
export async function auditOf(server: TestServer, subjectId: string): Promise<AuditRow[]> {
  const { id } = await firstEnvironment(server);
  const page = await server.deps.store.read.audit.list(id, { size: 100 });
  return page.rows.filter((row) => row.subjectId === subjectId);
}
