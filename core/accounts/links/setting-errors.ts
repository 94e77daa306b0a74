import { settingProblem } from '../../oauth/problem.ts';

/**
 * Runs a step of a link. An error about a missing or wrong setting becomes a failed outcome, because it is not a fault
 * of the server; its message names the setting for the operator. Other errors are thrown.
 */
export async function settingErrorsAsOutcome<T>(
  run: () => Promise<T>,
): Promise<T | { ok: false; kind: 'failed'; message: string }> {
  try {
    return await run();
  } catch (error) {
    const message = settingProblem(error);
    if (message === undefined) throw error;
    return { ok: false, kind: 'failed', message };
  }
}
