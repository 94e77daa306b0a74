import { settingProblem } from '../../oauth/problem.ts';

/**
 * Turns a missing or wrong setting into a failed outcome, because it is not a fault of the server. The log names the
 * setting for the operator.
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
