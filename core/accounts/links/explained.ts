import { settingProblem } from '../../oauth/problem.ts';

/** A missing or wrong setting is not a fault of the server; the log names it for the operator. */
export async function explained<T>(run: () => Promise<T>): Promise<T | { ok: false; kind: 'failed'; message: string }> {
  try {
    return await run();
  } catch (error) {
    const message = settingProblem(error);
    if (message === undefined) throw error;
    return { ok: false, kind: 'failed', message };
  }
}
