import type { EnvironmentId, EventRow } from '../../db/store.ts';
import { readConfig } from '../../http/config/config.ts';
import { createApplication } from '../../wiring/create-application.ts';

/** The number of events that one unit of work queues. The store runs several units in one transaction. */
const BATCH = 100;
/** The number of units that run at the same time. */
const UNITS = 20;

/**
 * Queues copies of the stored events for the endpoints of the first environment. The operations that cause events are
 * not run, so ten thousand events take a few seconds.
 *
 * @param count how many events to queue
 */
export async function queueEvents(env: Record<string, string>, count: number): Promise<void> {
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const { parts, firstStart } = await createApplication(config, secrets);
  const { store, deliveries, newId, now } = parts;
  const environmentId = firstStart.environment.id as EnvironmentId;
  const [endpoint] = await store.read.webhookEndpoints.enabled(environmentId);
  const templates = await store.read.events.following(environmentId, 0, 1000);
  if (!endpoint || templates.length === 0) throw new Error('There is no endpoint, or no event to copy.');
  const queue = (from: number) =>
    store.write(async (tx) => {
      for (let number = from; number < Math.min(from + BATCH, count); number++) {
        const { seq: _, environmentId: __, ...template } = templates[number % templates.length] as EventRow;
        const id = newId('evt');
        const body = JSON.stringify({ ...JSON.parse(template.body), id });
        const event = { ...template, id, body, createdAt: now() };
        const seq = await tx.events.append(environmentId, event);
        await deliveries.add(tx, endpoint, { ...event, environmentId, seq });
      }
    });
  for (let from = 0; from < count; from += BATCH * UNITS) {
    const units = Math.ceil(Math.min(BATCH * UNITS, count - from) / BATCH);
    await Promise.all(Array.from({ length: units }, (_, unit) => queue(from + unit * BATCH)));
  }
  await parts.close();
}
