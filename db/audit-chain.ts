import { hash } from 'node:crypto';
import type { AuditRow } from './rows/audit.ts';

/** What the first row of a chain follows. */
export const GENESIS: Buffer = Buffer.alloc(32);

/**
 * The SHA-256 of a row: every field as json (or null) behind its length, in a fixed order, with the hash of the row before. The
 * lengths make two different rows two different texts.
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

/** The same value as it is read back: with the keys of all its objects in order, and without members that JSON does not store. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const stored = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const entries = stored.map(([key, inner]) => [key, canonical(inner)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
