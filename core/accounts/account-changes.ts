/** Tells waiting callers when this process has changed an account. */
export interface AccountChanges {
  /** Call it after the change is committed. */
  changed(accountId: string): void;
  /** `change` resolves after the next change of the account. `cancel` stops the wait; then `change` never resolves. */
  next(accountId: string): { change: Promise<void>; cancel(): void };
}

export function createAccountChanges(): AccountChanges {
  const waiting = new Map<string, Set<() => void>>();
  return {
    changed(accountId) {
      for (const wake of waiting.get(accountId) ?? []) wake();
      waiting.delete(accountId);
    },
    next(accountId) {
      const { promise: change, resolve } = Promise.withResolvers<void>();
      const others = waiting.get(accountId) ?? new Set();
      waiting.set(accountId, others.add(resolve));
      const cancel = () => {
        others.delete(resolve);
        if (others.size === 0 && waiting.get(accountId) === others) waiting.delete(accountId);
      };
      return { change, cancel };
    },
  };
}
