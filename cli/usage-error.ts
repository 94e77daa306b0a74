/** A wrong call of a command; printed without a stack trace. */
export class UsageError extends Error {
  override name = 'UsageError';
}
