/** One change of a subject. `version` is the one that it has afterwards; null when it is deleted. */
interface Step {
  version: number | null;
  sentAt: number;
  ackedAt?: number;
}

/** Something that is changed by one request after the other: an account, or the tokens of a grant. */
export interface Subject {
  id: string;
  steps: Step[];
}

/** What a client has sent and what was acknowledged, with times in milliseconds UTC. */
export interface History {
  accounts: Subject[];
  /** Accounts whose tokens rotate. Their version is the generation of their credentials. */
  grants: Subject[];
  calls: { executionId: string; ackedAt: number }[];
}

export function createHistory(): History {
  return { accounts: [], grants: [], calls: [] };
}

/**
 * Makes a change and notes when it was sent and when it was acknowledged.
 *
 * @param change resolves with the version afterwards
 */
export async function change(
  subject: Subject,
  version: number | null,
  send: () => Promise<number | null | undefined>,
): Promise<void> {
  const step: Step = { version, sentAt: Date.now() };
  subject.steps.push(step);
  const known = await send();
  if (known !== undefined) step.version = known;
  step.ackedAt = acknowledged();
}

/** Now, rounded up: a time in the recording that is later is certainly later than the response. */
export function acknowledged(): number {
  return Date.now() + 1;
}

/** What a subject may be at a time: as it was acknowledged last, or as a request that had no response by then makes it. */
export function possibleVersions({ steps }: Subject, at: number): (number | null)[] {
  const acked = steps.findLastIndex(({ ackedAt }) => ackedAt !== undefined && ackedAt < at);
  const next = steps[acked + 1];
  const last = steps[acked]?.version ?? null;
  return next !== undefined && next.sentAt <= at ? [last, next.version] : [last];
}

export function countAcknowledged({ accounts, grants, calls }: History, at: number): number {
  const steps = [...accounts, ...grants].flatMap((subject) => subject.steps);
  return [...steps, ...calls].filter(({ ackedAt }) => ackedAt !== undefined && ackedAt < at).length;
}
