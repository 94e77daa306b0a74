import { hash } from 'node:crypto';
import type { AuditRow } from './rows/audit.ts';

/** The previous hash of the first row of a chain. */
export const GENESIS: Buffer = Buffer.alloc(32);

/**
 * Returns the SHA-256 of a row: every field as JSON, preceded by its length in bytes, in a fixed order, together with
 * the hash of the previous row. The lengths ensure that different rows are hashed as different texts.
 */
export function auditHash(row: Omit<AuditRow, 'hash'>): Buffer {
  const { seq, id, environmentId, at, actor, action, subjectId, requestId, details } = row;
  let fields = '';
  for (const field of [1, seq, id, environmentId, at, actor, action, subjectId, requestId, canonical(details)]) {
    const text = JSON.stringify(field);
    fields += `${Buffer.byteLength(text)}:${text}`;
  }
  return hash('sha256', Buffer.concat([Buffer.from(fields), row.prevHash]), 'buffer');
}

/**
 * Returns a form of a value that is the same before it is stored and after it is read from the database. An object
 * becomes a list of its members, sorted by key and without undefined members.
 */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const stored = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const entries = stored.map(([key, inner]) => [key, canonical(inner)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
