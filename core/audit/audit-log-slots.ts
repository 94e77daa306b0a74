import { AUDIT } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { Lanes, type ReleaseSlot } from '../scheduling/lanes.ts';

/** Limits how many requests read the whole audit log of an environment at a time, in one process. */
export interface AuditLogSlots {
  /** @throws ApiError RATE_LIMITED if too many requests of the environment read its log */
  take(environmentId: string): ReleaseSlot;
}

export function createAuditLogSlots(): AuditLogSlots {
  const lanes = new Lanes({ perLane: AUDIT.readers });
  return {
    take(environmentId) {
      const leave = lanes.tryEnter(environmentId);
      if (leave) return leave;
      const detail = `${AUDIT.readers} requests already export or verify the audit log of this environment. Try again when they have ended.`;
      throw new ApiError('RATE_LIMITED', detail);
    },
  };
}
