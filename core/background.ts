/** Told why background work failed; usually a line in the log. */
export type ReportFailure = (error: unknown) => void;

/**
 * Starts work whose result no caller needs. Without this, a throw in a timer or a rejected promise ends the process.
 *
 * @param report is told of a throw or a rejection; a failure of the report itself is dropped
 * @returns a promise that resolves when the work has ended, and never rejects
 */
export async function inBackground(work: () => unknown, report: ReportFailure): Promise<void> {
  try {
    await work();
  } catch (error) {
    try {
      report(error);
    } catch {
      // A log that cannot be written must not end the process either.
    }
  }
}
