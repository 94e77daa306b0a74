import type { AuditRow } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** Returns the records of one subject among the newest 100 audit records of the first environment, newest first. */
export async function auditOf(server: TestServer, subjectId: string): Promise<AuditRow[]> {
  const { id } = await firstEnvironment(server);
  const page = await server.parts.store.read.audit.list(id, { size: 100 });
  return page.rows.filter((row) => row.subjectId === subjectId);
}
