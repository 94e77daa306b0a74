import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** A kind of jobs that no server runs, so their state does not change. */
export const KIND_WITHOUT_RUNNER = 'unrun';

export interface JobResponse {
  id: string;
  kind: string;
  state: string;
  subject_id: string;
  attempts: number;
  next_attempt_at: string | null;
  last_error: string;
  created_at: string;
  updated_at: string;
}

/** Creates jobs of the first environment in any state. */
export async function jobMaker({ parts }: Pick<TestServer, 'parts'>) {
  const { store, jobQueue, now } = parts;
  const { id: environmentId } = await firstEnvironment({ parts } as TestServer);
  const other = { id: 'inst_other', version: '0.1.0', startedAt: now(), beatAt: now() };
  const owner = await store.write((tx) => tx.instances.register(other));
  const orderOf = (kind: string, lane = 'acme') => ({
    environmentId,
    kind,
    lane,
    subjectId: 'ca_1',
    giveUpAfterMs: 1000,
  });

  /** Adds a waiting job. */
  const waiting = (payload: object = {}, lane?: string) =>
    store.write((tx) => jobQueue.enqueue(tx, orderOf(KIND_WITHOUT_RUNNER, lane), payload));
  /** Adds a job that another instance is running. */
  async function running(payload: object = {}): Promise<string> {
    const lane = parts.newId('job');
    const id = await waiting(payload, lane);
    const claim = { kind: KIND_WITHOUT_RUNNER, environmentId, lane, owner, now: now(), limit: 1 };
    await store.write((tx) => tx.jobQueue.claim(claim));
    return id;
  }
  const attempt = (id: string) => ({ id, attempts: 1, owner });
  return {
    waiting,
    running,
    async failed(reason: string, payload: object = {}): Promise<string> {
      const id = await running(payload);
      await store.write((tx) => tx.jobQueue.fail(attempt(id), { at: now(), reason }));
      return id;
    },
    async done(): Promise<string> {
      const id = await running();
      await store.write((tx) => tx.jobQueue.done(attempt(id), { at: now() }));
      return id;
    },
    /** A job that failed before its first attempt, so that it cannot be tried again. */
    untried: (kind: string, reason: string) => store.write((tx) => jobQueue.recordFailed(tx, orderOf(kind), reason)),
  };
}
