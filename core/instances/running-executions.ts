/**
 * The executions that this process is carrying out, each from before its start is recorded until its end is recorded.
 */
export class RunningExecutions {
  readonly #ids = new Set<string>();

  /** Runs work that records the start of an execution, carries it out and records its end. */
  async during<T>(executionId: string, work: () => Promise<T>): Promise<T> {
    this.#ids.add(executionId);
    try {
      return await work();
    } finally {
      this.#ids.delete(executionId);
    }
  }

  has(executionId: string): boolean {
    return this.#ids.has(executionId);
  }
}
