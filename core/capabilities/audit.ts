import type { AuditLogSlots } from '../audit/audit-log-slots.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on the audit log. */
export interface Audit extends Lists {
  logPlaces: AuditLogSlots;
}
