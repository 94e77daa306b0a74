/** Receives the outcome and the duration of each run of a job that is repeated. */
export type CountRun = (name: string, outcome: 'done' | 'failed', seconds: number) => void;

/** Runs a job once, and counts the run. @throws what the job throws */
export async function measureRun(name: string, counted: CountRun, run: () => unknown): Promise<void> {
  const startedAt = performance.now();
  let outcome: 'done' | 'failed' = 'failed';
  try {
    await run();
    outcome = 'done';
  } finally {
    counted(name, outcome, (performance.now() - startedAt) / 1000);
  }
}
