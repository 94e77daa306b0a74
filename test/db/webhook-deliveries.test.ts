import { expect } from 'chai';
import { NOW, openTestStore, type TestStore } from './support.ts';

describe('deliveries of a webhook endpoint', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });
  afterEach(() => test.end());

  it('F6: are searched in slices, so that many deliveries that do not match cannot make one statement slow', async () => {
    const { store, env, newId } = test;
    const wanted = await store.write(async (tx) => {
      const ids: string[] = [];
      for (let count = 0; count < 50; count++) {
        const id = newId('whd');
        const isWanted = count % 9 === 4 || count > 46;
        if (isWanted) ids.push(id);
        const about = { endpointId: count % 5 === 0 && !isWanted ? 'whk_2' : 'whk_1', eventId: `evt_${count}` };
        const event = { ...about, eventSeq: count, eventType: 'connection.created', subjectId: 'conn_1' };
        await tx.webhookDeliveries.insert(env, { ...event, id, jobId: 'job_1', createdAt: NOW, nextAttemptAt: NOW });
        const result = { attempts: 1, nextAttemptAt: null, lastAttempt: null, at: NOW };
        if (isWanted) await tx.webhookDeliveries.record(env, id, 'job_1', { ...result, state: 'FAILED' });
      }
      return ids;
    });
    const found: string[] = [];
    let reads = 0;
    let afterId: string | undefined = '';
    while (afterId !== undefined) {
      const range = { endpointId: 'whk_1', afterId, createdFrom: 0, endedUntil: NOW, limit: 2, slice: 4 };
      const { rows, next }: { rows: { id: string }[]; next?: string } = await store.read.webhookDeliveries.ended(
        env,
        range,
      );
      found.push(...rows.map(({ id }) => id));
      reads += 1;
      afterId = next;
    }
    expect(found).to.deep.equal(wanted);
    expect(reads).to.be.within(10, 20);
  });
});
