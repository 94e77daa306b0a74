import type { AuditHead, AuditRow } from './rows/audit.ts';

/** The action of the records that publish the last record of each chain, in `heads` of their details. */
export const AUDIT_HEAD = 'environment.audit_head';

/** How many `seq` values belong to one chain. */
const CHAIN_SIZE = 2 ** 30;

/** The last records of an environment's chains, as published in records with the action `AUDIT_HEAD`. */
export interface AuditWitness {
  /** Reads the published heads in a record. */
  read(row: AuditRow): void;
  /** Returns the last published record of each chain. */
  named(): AuditHead[];
}

/**
 * Collects the published heads (last records) in an audit log. If an environment has several chains, a chain that was
 * deleted as a whole, or cut short together with its own published head, is still named in records of other chains.
 */
export function createAuditWitness(): AuditWitness {
  const named = new Map<number, AuditHead>();
  return {
    read({ action, details }) {
      if (action !== AUDIT_HEAD) return;
      for (const head of headsIn(details)) {
        const chain = Math.floor(head.seq / CHAIN_SIZE);
        if (head.seq > (named.get(chain)?.seq ?? 0)) named.set(chain, head);
      }
    },
    named: () => [...named.values()],
  };
}

function headsIn(details: Record<string, unknown>): AuditHead[] {
  const heads = details['heads'];
  if (!Array.isArray(heads)) return [];
  return heads.flatMap((head: { seq?: unknown; hash?: unknown } | null) => {
    const { seq, hash } = head ?? {};
    return typeof seq === 'number' && typeof hash === 'string' ? [{ seq, hash: Buffer.from(hash, 'hex') }] : [];
  });
}
