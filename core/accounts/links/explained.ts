import { settingProblem } from '../../oauth/problem.ts';

/** A setting that is missing or does not fit is nobody's crash: an operator reads in the log what it is. */
export async function explained<T>(run: () => Promise<T>): Promise<T | { ok: false; kind: 'failed'; message: string }> {
  try {
    return await run();
  } catch (error) {
    const message = settingProblem(error);
    if (message === undefined) throw error;
    return { ok: false, kind: 'failed', message };
  }
}
