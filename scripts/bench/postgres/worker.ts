import { createInterface } from 'node:readline';
import { openStore } from '../../../db/open-store.ts';
import { createBenchOperations, type OperationName, type Subjects } from './operations.ts';

/** A task for a worker. The worker keeps its connections between tasks, so that opening them is not measured. */
export interface Task {
  operation: OperationName;
  inFlight: number;
  seconds: number;
}

export interface TaskResult {
  operations: number;
  seconds: number;
  cpuMicroseconds: number;
  failures: number;
  unitCalls: number;
  unitRuns: number;
}

const { location, subjects } = JSON.parse(process.argv[2] ?? '{}') as { location: string; subjects: Subjects };
const store = await openStore({ location, now: Date.now });
const operations = createBenchOperations(store, subjects);

async function work({ operation, inFlight, seconds }: Task): Promise<TaskResult> {
  // A server adds up its rows of counts every few seconds. Without this call, lists would read one row for each account
  // that earlier tasks created.
  await store.fold?.();
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const [calls, runs] = [operations.unitCalls(), operations.unitRuns()];
  const until = startedAt + seconds * 1000;
  let done = 0;
  let failures = 0;
  const caller = async () => {
    while (performance.now() < until) {
      try {
        await operations.run(operation);
        done++;
      } catch {
        failures++;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.cpuUsage(cpu);
  return {
    operations: done,
    seconds: (performance.now() - startedAt) / 1000,
    cpuMicroseconds: user + system,
    failures,
    unitCalls: operations.unitCalls() - calls,
    unitRuns: operations.unitRuns() - runs,
  };
}

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await work(JSON.parse(line) as Task)));
}
await store.close();
