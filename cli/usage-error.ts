/** A mistake in the call of a command: said without a stack. */
export class UsageError extends Error {
  override name = 'UsageError';
}
