/** One change of a subject. `version` is the version after the change; null after a deletion. */
interface Step {
  version: number | null;
  sentAt: number;
  ackedAt?: number;
}

/** An account or the tokens of a grant. Its requests are sent one after the other. */
export interface Subject {
  id: string;
  steps: Step[];
}

/** The writes that a client has sent, and their acknowledgements, with times in milliseconds UTC. */
export interface History {
  accounts: Subject[];
  /** Accounts whose tokens rotate; their version is the generation of their credentials. */
  grants: Subject[];
  calls: { executionId: string; ackedAt: number }[];
}

export function createHistory(): History {
  return { accounts: [], grants: [], calls: [] };
}

/**
 * Makes a change and records when it was sent and when it was acknowledged.
 *
 * @param version the expected version after the change
 * @param send makes the change; resolves with the actual version, or with undefined if it is the expected one
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

/** Returns the present time, rounded up: anything with a later time in the recording happened after the response. */
export function acknowledged(): number {
  return Date.now() + 1;
}

/**
 * Returns the possible versions of a subject at a time: the one acknowledged last, or the result of a request that had
 * no response by then.
 */
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
