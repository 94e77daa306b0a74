/** Receives the error of failed background work, usually to log it. */
export type ReportFailure = (error: unknown) => void;

/**
 * Starts work whose result no caller needs. Without this function, an error in a timer or a rejected promise would end
 * the process.
 *
 * @param report receives the error; an error of `report` itself is ignored
 * @returns a promise that resolves when the work has ended, and never rejects
 */
export async function inBackground(work: () => unknown, report: ReportFailure): Promise<void> {
  try {
    await work();
  } catch (error) {
    try {
      report(error);
    } catch {
      // An error while logging must not end the process either.
    }
  }
}
